import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { callCatalogue } from './call-catalogue.ts';
import { catalogue } from './catalogue.ts';
import { subjectOfCall } from './define-call.ts';
import type { MessageContract } from './define-message.ts';
import { serviceNames, type ServiceName } from './services.ts';
import { type BucketName, buckets, deadSubject, durableName, intakeSubject, streams } from './streams.ts';

/** What a user of the broker may do. Subjects with NATS wildcards; everything else is refused by the server. */
export interface BrokerPermissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** Whether it may answer a request on whatever subject the request names. */
  readonly answers: boolean;
}

/** The user of whoever works on this machine: its tasks need no principal in their subject. */
export const LOCAL_USER = 'local';

const workers: readonly ServiceName[] = ['planner', 'executor', 'reviewer', 'merger', 'scribe'];

const bucketUsers: Readonly<
  Record<BucketName, { readonly read: readonly ServiceName[]; readonly write: readonly ServiceName[] }>
> = {
  // The router puts the last change of a run in its archive, and takes out what no run needs any more.
  changes: { read: ['planner', 'executor', 'reviewer', 'merger', 'router'], write: ['executor', 'merger', 'router'] },
  spills: { read: serviceNames, write: ['router', ...workers] },
};

/** Subject prefix of answers to a user's own requests: nobody else may listen to it. */
export function inboxPrefixOf(user: string): string {
  return user === LOCAL_USER ? '_INBOX' : `_INBOX_${user}`;
}

/** Subjects of the fleet that a service publishes on, as its outbox may hold them. */
export function publishedSubjects(service: ServiceName): readonly string[] {
  return [
    ...catalogue.filter(({ producers }) => producers.includes(service)).map(({ subject }) => subject),
    ...consumedBy(service).map(({ name }) => deadSubject(name)),
    // A dead message of the queue is replayed by the service that takes it.
    ...consumedBy(service)
      .filter(({ stream }) => stream === 'TASKS')
      .flatMap(({ stream }) => streams[stream].subjects),
  ];
}

export interface PermissionOptions {
  /** Names of outside publishers, whose inboxes answers to tasks may go to. */
  readonly publishers?: readonly string[];
}

/** What a service needs, and nothing more: read off the catalogues of messages and calls. */
export function permissionsOfService(
  service: ServiceName,
  { publishers = [] }: PermissionOptions = {},
): BrokerPermissions {
  const asked = callCatalogue.filter(({ kind, servedBy }) => kind !== 'stream' && servedBy !== 'gateway');
  const served = asked.filter(({ servedBy }) => servedBy === service);
  const makes = asked.filter(({ askedBy = [] }) => service === 'gateway' || askedBy.includes(service));
  const takesTasks = consumedBy(service).some(({ stream }) => stream === 'TASKS');
  return {
    publish: [
      ...publishedSubjects(service),
      ...(workers.includes(service) ? ['flotilla.live.*'] : []),
      ...makes.map(subjectOfCall),
      ...(takesTasks ? [LOCAL_USER, ...publishers].map((user) => `${inboxPrefixOf(user)}.>`) : []),
      ...consumedBy(service).flatMap((contract) => consumerSubjects(service, contract)),
      ...buckets.flatMap((bucket) => bucketSubjects(service, bucket)),
      '$JS.API.INFO',
      ...(service === 'router' ? [...provisioningSubjects, ...deadReadingSubjects, ...sweepingSubjects] : []),
    ],
    subscribe: [
      `${inboxPrefixOf(service)}.>`,
      ...(service === 'gateway' ? ['flotilla.events.*', 'flotilla.live.*'] : []),
      ...(workers.includes(service) ? ['flotilla.events.*'] : []),
      ...served.map(subjectOfCall),
    ],
    answers: served.length > 0,
  };
}

/**
 * Somebody outside: may put tasks on the queue as itself and receive answers. Subjects of events name runs and not whose they are, so
 * what became of a task is heard on its inbox and read over HTTP.
 */
export function permissionsOfPublisher(name: string): BrokerPermissions {
  return {
    publish: [intakeSubject(name), ...(name === LOCAL_USER ? [intakeSubject()] : [])],
    subscribe: [`${inboxPrefixOf(name)}.>`],
    answers: false,
  };
}

/** One token of a subject, which holds no wildcard; the same rule as for principals without the dot. */
const publisherPattern = /^[a-zA-Z0-9][a-zA-Z0-9_@-]{0,62}$/;

/** Why a name cannot be a publisher's; undefined where it can. Its subject and its inbox are made of it. */
export function whyNoPublisher(name: string): string | undefined {
  if (name === LOCAL_USER || serviceNames.some((service) => service === name))
    return 'the fleet has a user of that name';
  return publisherPattern.test(name)
    ? undefined
    : 'a publisher has up to 63 letters, digits and _ @ -, a letter or digit first';
}

/**
 * The `authorization` block of nats.conf: a user for each service, the local user, and outside publishers by name. Throws
 * PUBLISHER_NAME_REFUSED.
 */
export function renderNatsAuthorization(
  passwords: Readonly<Record<ServiceName | typeof LOCAL_USER, string>>,
  publishers: Readonly<Record<string, string>> = {},
): string {
  const names = Object.keys(publishers);
  for (const name of names) {
    const reason = whyNoPublisher(name);
    if (reason !== undefined) throw new FlotillaError(errors.publisherNameRefused, { name, reason });
  }
  const users = [
    ...serviceNames.map((service) =>
      renderUser(service, passwords[service], permissionsOfService(service, { publishers: names })),
    ),
    renderUser(LOCAL_USER, passwords[LOCAL_USER], permissionsOfPublisher(LOCAL_USER)),
    ...Object.entries(publishers).map(([name, password]) => renderUser(name, password, permissionsOfPublisher(name))),
  ];
  return ['authorization {', '  users: [', ...users, '  ]', '}', ''].join('\n');
}

function renderUser(user: string, password: string, { publish, subscribe, answers }: BrokerPermissions): string {
  const allow = (subjects: readonly string[]) =>
    `{ allow: [${[...new Set(subjects)].map((subject) => JSON.stringify(subject)).join(', ')}] }`;
  return [
    `    { user: ${JSON.stringify(user)}, password: ${JSON.stringify(password)}, permissions: {`,
    `      publish: ${allow(publish)}`,
    `      subscribe: ${allow(subscribe)}`,
    ...(answers ? ['      allow_responses: { max: 1, expires: "5m" }'] : []),
    '    } }',
  ].join('\n');
}

function consumedBy(service: ServiceName): readonly MessageContract[] {
  return catalogue.filter(({ consumer }) => consumer === service);
}

/** The name of a consumer and its filter are part of the subject it is created on, so nobody creates one for others' messages. */
function consumerSubjects(service: ServiceName, { stream, subject }: MessageContract): readonly string[] {
  const durable = durableName(service, subject);
  const created = `$JS.API.CONSUMER.CREATE.${stream}.${durable}`;
  return [
    stream === 'TASKS' ? created : `${created}.${subject}`,
    `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
    `$JS.ACK.${stream}.${durable}.>`,
  ];
}

function bucketSubjects(service: ServiceName, bucket: BucketName): readonly string[] {
  const stream = `OBJ_${bucket}`;
  const { read, write } = bucketUsers[bucket];
  const reading = [
    `$JS.API.STREAM.INFO.${stream}`,
    `$JS.API.STREAM.MSG.GET.${stream}`,
    `$JS.API.DIRECT.GET.${stream}.>`,
    `$JS.API.CONSUMER.CREATE.${stream}.>`,
    `$JS.API.CONSUMER.INFO.${stream}.*`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
    `$JS.API.CONSUMER.DELETE.${stream}.*`,
    `$JS.FC.${stream}.>`,
    `$JS.ACK.${stream}.>`,
  ];
  return [
    ...(read.includes(service) || write.includes(service) ? reading : []),
    ...(write.includes(service) ? [`$O.${bucket}.>`, `$JS.API.STREAM.PURGE.${stream}`] : []),
  ];
}

/** The router makes the streams and keeps their limits: it is also who asks again for what a lost broker forgot. */
const provisioningSubjects: readonly string[] = [
  ...[...Object.keys(streams), ...buckets.map((bucket) => `OBJ_${bucket}`)].flatMap((stream) => [
    `$JS.API.STREAM.CREATE.${stream}`,
    `$JS.API.STREAM.INFO.${stream}`,
  ]),
  ...Object.keys(streams).map((stream) => `$JS.API.STREAM.UPDATE.${stream}`),
];

/** The router takes out of the work queues what their consumers have acknowledged. */
const sweepingSubjects: readonly string[] = catalogue.flatMap(({ stream, subject, consumer }) =>
  streams[stream].retention !== 'workqueue'
    ? []
    : [`$JS.API.CONSUMER.INFO.${stream}.${durableName(consumer, subject)}`, `$JS.API.STREAM.PURGE.${stream}`],
);

const deadReadingSubjects: readonly string[] = [
  '$JS.API.STREAM.MSG.GET.DEAD',
  '$JS.API.DIRECT.GET.DEAD',
  '$JS.API.DIRECT.GET.DEAD.>',
];
