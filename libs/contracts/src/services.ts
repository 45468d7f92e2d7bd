/** The services that talk over the broker, each with a principal of its own. */
export const serviceNames = ['gateway', 'router', 'planner', 'executor', 'reviewer', 'merger', 'scribe'] as const;
export type ServiceName = (typeof serviceNames)[number];
