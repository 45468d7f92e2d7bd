import { defineError } from '../flotilla-error.ts';

export const streamErrors = {
  brokerUnavailable: defineError({
    code: 'BROKER_UNAVAILABLE',
    remedy: 'wait',
    summary: 'NATS does not answer: {reason}',
    advice: 'Start nats-server with JetStream, or set NATS_URL to one that answers; work goes on by itself.',
  }),
  brokerTooOld: defineError({
    code: 'BROKER_TOO_OLD',
    remedy: 'operator',
    summary: 'The NATS server is version {version}; {oldest} is the oldest that works',
    advice: 'Run nats-server {oldest} or newer, or point NATS_URL at one that is.',
  }),
  brokerRefused: defineError({
    code: 'BROKER_REFUSED',
    remedy: 'operator',
    summary: 'NATS refuses this user: {reason}',
    advice:
      'Write the users that the catalogue gives into nats.conf, and give the service its own user and password in NATS_URL.',
  }),
  streamsMissing: defineError({
    code: 'STREAMS_MISSING',
    remedy: 'wait',
    summary: 'The broker has no stream {stream}',
    advice: 'Start the router, which creates the streams; the service goes on by itself.',
  }),
  streamDiffers: defineError({
    code: 'STREAM_DIFFERS',
    remedy: 'operator',
    summary: 'The broker has a {stream} that was made for something else: {reason}',
    advice: 'Give the fleet a NATS account of its own, or remove the stream {stream} when nothing in it is needed.',
  }),
  messageMalformed: defineError({
    code: 'MESSAGE_MALFORMED',
    remedy: 'caller',
    summary: 'The message on {subject} is not what the contract {contract} says: {reason}',
    advice: 'Correct the fields it names and send the message again; infra/reference/messages.md has an example.',
  }),
  messageNeverSettled: defineError({
    code: 'MESSAGE_NEVER_SETTLED',
    remedy: 'operator',
    summary: 'The process that handled the message died {deaths} times while it did',
    advice: 'Read the last lines of the service in its log, most often memory ran out, then retry the run.',
  }),
  failureUnclassified: defineError({
    code: 'FAILURE_UNCLASSIFIED',
    remedy: 'operator',
    summary: 'Something failed that nobody foresaw: {reason}',
    advice: 'Report it with the lines of the log that carry this run id; the run can be retried.',
  }),
  shuttingDown: defineError({
    code: 'SHUTTING_DOWN',
    remedy: 'wait',
    summary: 'This process is stopping',
    advice: 'Nothing to do; another process goes on with the work.',
  }),
  callUnanswered: defineError({
    code: 'CALL_UNANSWERED',
    remedy: 'wait',
    summary: 'No {service} is there to answer {call}',
    advice: 'Start the {service}, then ask again.',
  }),
  callTimedOut: defineError({
    code: 'CALL_TIMED_OUT',
    remedy: 'wait',
    summary: 'The {service} did not answer {call} within {limitMs} ms',
    advice: 'Ask again; a command that was carried out meanwhile is not carried out twice.',
    status: 504,
  }),
  callInvalid: defineError({
    code: 'CALL_INVALID',
    remedy: 'caller',
    summary: 'The request is not what {call} takes: {reason}',
    advice: 'Correct the fields named in "violations"; the reference has the shape of every request.',
  }),
  callAnswerMalformed: defineError({
    code: 'CALL_ANSWER_MALFORMED',
    remedy: 'operator',
    summary: 'The {service} answered {call} in a shape that the contract does not have: {reason}',
    advice: 'Run the same version of every service.',
    status: 502,
  }),
  objectMissing: defineError({
    code: 'OBJECT_MISSING',
    remedy: 'operator',
    summary: 'The bucket {bucket} has no object {name}',
    advice: 'Retry the run from its start; objects go with the broker data when that is lost.',
  }),
  stageMissing: defineError({
    code: 'STAGE_MISSING',
    remedy: 'operator',
    summary: 'The catalogue sends {message} to the {service}, and no stage takes it',
    advice: 'Add a row for it to services/{service}/src/{service}.stages.ts.',
  }),
  stageForeign: defineError({
    code: 'STAGE_FOREIGN',
    remedy: 'operator',
    summary: 'The {service} has a stage for {message}, which the catalogue sends to the {consumer}',
    advice:
      'Remove the row from services/{service}/src/{service}.stages.ts, or name the service as consumer in the contract.',
  }),
  stageHandlerMissing: defineError({
    code: 'STAGE_HANDLER_MISSING',
    remedy: 'operator',
    summary: 'The {service} has no provider of {handler}, which its stage for {message} names',
    advice: 'Provide it in services/{service}/src/{service}.module.ts.',
  }),
  callHandlerMissing: defineError({
    code: 'CALL_HANDLER_MISSING',
    remedy: 'operator',
    summary: 'The {service} serves {call} by its contract and has no handler for it',
    advice: 'Add one to the calls of services/{service}.',
  }),
} as const;
