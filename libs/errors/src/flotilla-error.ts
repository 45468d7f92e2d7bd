/**
 * Who can put a failure right, which also decides how a delivery is settled.
 * `caller`: the request itself is wrong. `operator`: the installation is. `wait`: a lease, capacity or a dependency is
 * missing, which costs no retry budget. `retry`: an attempt failed in a way that another attempt may not.
 */
export type Remedy = 'caller' | 'operator' | 'wait' | 'retry';

export interface ErrorDefinition {
  /** Upper snake case, never reused. */
  readonly code: string;
  readonly remedy: Remedy;
  /** One sentence; `{name}` is filled from the details. */
  readonly summary: string;
  /** What the reader does next, in one sentence; `{name}` is filled from the details. */
  readonly advice: string;
  /** HTTP status of the answer that carries it. Default: 400 caller, 500 operator, 503 wait and retry. */
  readonly status?: number;
}

export type ErrorDetails = Readonly<Record<string, unknown>>;

export function defineError<const Definition extends ErrorDefinition>(definition: Definition): Definition {
  return definition;
}

/** A failure somebody foresaw. Anything else that is thrown counts as unclassified. */
export class FlotillaError extends Error {
  readonly code: string;
  readonly remedy: Remedy;
  readonly advice: string;
  readonly status: number;
  readonly details: ErrorDetails;

  constructor(definition: ErrorDefinition, details: ErrorDetails = {}, options?: ErrorOptions) {
    super(fill(definition.summary, details), options);
    this.name = 'FlotillaError';
    this.code = definition.code;
    this.remedy = definition.remedy;
    this.advice = fill(definition.advice, details);
    this.status = statusOf(definition);
    this.details = details;
  }

  is(definition: ErrorDefinition): boolean {
    return this.code === definition.code;
  }
}

const statusByRemedy: Readonly<Record<Remedy, number>> = { caller: 400, operator: 500, wait: 503, retry: 503 };

export function statusOf(definition: ErrorDefinition): number {
  return definition.status ?? statusByRemedy[definition.remedy];
}

function fill(template: string, details: ErrorDetails): string {
  return template.replace(/\{(\w+)\}/g, (placeholder, key: string) => {
    const value = details[key];
    if (value === undefined) return placeholder;
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}
