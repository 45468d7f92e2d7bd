/** Where a process dies: at its n-th call, counted from 1, before that is carried out or once it was, while its answer is on the way. */
export interface DeathPoint {
  readonly call: number;
  readonly when: 'before' | 'after';
}

/** How a port is called. What is not named here is awaited and counts as a call. */
export interface PortShape {
  /** Answer at once, have no effect outside of the process and are not counted. */
  readonly reads?: readonly string[];
  /** Have an effect and are not awaited, such as an acknowledgement: what follows one still runs, and reaches nothing any more. */
  readonly sends?: readonly string[];
  /** Answer piece by piece. */
  readonly streams?: readonly string[];
  /** Properties that are ports themselves. */
  readonly parts?: Readonly<Record<string, PortShape>>;
  /** What a method hands to the function that it is given. */
  readonly gives?: Readonly<Record<string, PortShape>>;
  /** What a method resolves with, where that is a port. */
  readonly opens?: Readonly<Record<string, PortShape>>;
}

type Call = (...given: readonly unknown[]) => unknown;

/**
 * A process that ends as by kill -9 at one of its calls to the world: from then on no port is reached, no promise of one settles, and so
 * no catch and no finally runs. What has to be cut from outside, such as its connections, is the test's.
 */
export class MortalProcess {
  /** The calls so far; a call that is given a function is in it twice, when it begins and when that function has returned. */
  readonly calls: string[] = [];
  /** Resolves with the call at which it died. */
  readonly died: Promise<string>;
  readonly #point: DeathPoint | undefined;
  readonly #tellDeath: (call: string) => void;
  #dead = false;

  /** Default: it lives. */
  constructor(point?: DeathPoint) {
    this.#point = point;
    const { promise, resolve } = Promise.withResolvers<string>();
    this.died = promise;
    this.#tellDeath = resolve;
  }

  /** Whether it lives whatever it does. */
  get lives(): boolean {
    return this.#point === undefined;
  }

  get dead(): boolean {
    return this.#dead;
  }

  /** The port as this process has it. */
  wrap<Port extends object>(name: string, port: Port, shape: PortShape = {}): Port {
    const { reads = [], sends = [], streams = [], parts = {} } = shape;
    return new Proxy(port, {
      get: (target, key) => {
        // The target reads its own private fields.
        const member: unknown = Reflect.get(target, key, target);
        const method = key === Symbol.asyncDispose ? 'dispose' : String(key);
        const part = parts[method];
        if (part !== undefined) return this.wrap(`${name}.${method}`, member as object, part);
        if (typeof member !== 'function') return member;
        const label = `${name}.${method}`;
        const call: Call = (...given) => Reflect.apply(member, target, given);
        if (reads.includes(method)) return (...given: readonly unknown[]) => call(...this.#deafen(given));
        if (sends.includes(method)) return this.#send(label, call);
        if (streams.includes(method)) return this.#stream(label, call);
        return this.#await(label, call, shape.gives?.[method], shape.opens?.[method]);
      },
    });
  }

  #await(label: string, call: Call, gives: PortShape | undefined, opens: PortShape | undefined): Call {
    return async (...given) => {
      if (this.#dead) return never();
      const begin = this.#count(label);
      if (begin === 'before') return this.#die(label);
      let doom = begin === 'after' ? label : undefined;
      const inside =
        (work: Call) =>
        async (...handed: readonly unknown[]) => {
          if (this.#dead) return never();
          if (doom !== undefined) return this.#die(doom);
          const ports = gives === undefined ? handed : handed.map((each) => this.wrap(label, Object(each), gives));
          const value = await work(...ports);
          if (this.#dead) return never();
          const end = this.#count(`${label} ends`);
          if (end === 'before') return this.#die(`${label} ends`);
          if (end === 'after') doom = `${label} ends`;
          return value;
        };
      const wrapped = given.map((each) => (typeof each === 'function' ? inside(each as Call) : each));
      const outcome = await settle(() => call(...wrapped));
      if (this.#dead) return never();
      if (doom !== undefined) return this.#die(doom);
      if ('error' in outcome) throw outcome.error;
      return opens === undefined ? outcome.value : this.wrap(label, Object(outcome.value), opens);
    };
  }

  #send(label: string, call: Call): Call {
    return (...given) => {
      if (this.#dead) return undefined;
      const doomed = this.#count(label);
      if (doomed !== 'before') call(...given);
      if (doomed !== undefined) void this.#die(label);
      return undefined;
    };
  }

  #stream(label: string, call: Call): (...given: readonly unknown[]) => AsyncIterable<unknown> {
    const pieces = async function* (this: MortalProcess, given: readonly unknown[]): AsyncGenerator<unknown> {
      if (this.#dead) await never();
      const doomed = this.#count(label);
      if (doomed === 'before') await this.#die(label);
      for await (const piece of call(...given) as AsyncIterable<unknown>) {
        if (this.#dead) await never();
        if (doomed === undefined) yield piece;
      }
      if (doomed === 'after') await this.#die(label);
      if (this.#dead) await never();
    }.bind(this);
    return (...given) => pieces(given);
  }

  /** Listeners of a dead process hear nothing. */
  #deafen(given: readonly unknown[]): readonly unknown[] {
    const hears =
      (listener: Call): Call =>
      (...told) =>
        this.#dead ? undefined : listener(...told);
    return given.map((each) => (typeof each === 'function' ? hears(each as Call) : each));
  }

  #count(label: string): DeathPoint['when'] | undefined {
    this.calls.push(label);
    return this.calls.length === this.#point?.call ? this.#point.when : undefined;
  }

  #die(label: string): Promise<never> {
    this.#dead = true;
    this.#tellDeath(label);
    return never();
  }
}

/** Kept, so that nothing of a dead process is collected and tidied up by that, such as an open file. */
const unsettled: Promise<never>[] = [];

function never(): Promise<never> {
  const promise = new Promise<never>(() => undefined);
  unsettled.push(promise);
  return promise;
}

async function settle(work: () => unknown): Promise<{ readonly value: unknown } | { readonly error: unknown }> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error };
  }
}
