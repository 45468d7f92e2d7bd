/** The list of this user's running fleets, written by `npm start` and read by the command line. */
export {
  fleetsFile,
  readFleets,
  registerFleet,
  type RegisteredFleet,
  unregisterFleet,
} from '@flotilla/cli/fleet/fleets-file';
