/**
 * Old, harmless blemishes that many public repositories carry and their own servers take. Everything else that `git fsck`
 * calls an error, such as `.git` in a tree or a dangerous `.gitmodules`, keeps the objects out.
 */
export const toleratedBlemishes = [
  'zeroPaddedFilemode',
  'badTimezone',
  'badDate',
  'badDateOverflow',
  'missingSpaceBeforeDate',
  'missingSpaceBeforeEmail',
  'missingNameBeforeEmail',
  'badName',
  'badEmail',
] as const;

/** For `index-pack --strict=`. */
export const fsckTolerance = toleratedBlemishes.map((blemish) => `${blemish}=ignore`).join(',');
