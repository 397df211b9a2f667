import { isDeepStrictEqual } from 'node:util';

// biome-ignore lint/suspicious/noExplicitAny: each answer takes the input of its own command
type Input = any;
type Answer = (input: Input) => unknown;

/** A command of an SDK's client. */
interface Command<Output> {
  readonly input: Input;
  resolveMiddleware(...given: never): (...given: never) => Promise<{ output: Output }>;
}
type CommandClass<Made extends Command<unknown>> = new (input: Input) => Made;

interface Call<Made = Command<unknown>> {
  readonly args: [command: Made, ...rest: unknown[]];
  /** The client that was called, of a mocked class. */
  readonly client: unknown;
}

/**
 * Puts a stand-in into the place of a client's calls, or of all clients' of a class. A test says with `on` what it
 * answers; of several answers that match, the last.
 */
export const mockClient = (client: { send: unknown } | { prototype: { send: unknown } }): MockedClient =>
  new MockedClient('send' in client ? client : client.prototype);

/** The stand-in of `mockClient`: a call costs a few steps, as properties make thousands. */
export class MockedClient {
  private readonly received: Call[] = [];
  private readonly told: Told<unknown>[] = [];
  private readonly client: { send: unknown };
  private served = new Map<unknown, Answer>();

  constructor(client: { send: unknown }) {
    this.client = client;
    this.reset();
  }

  /** Forgets all calls and answers. */
  reset(): void {
    const answer = (call: Call) => this.answer(call);
    this.resetHistory();
    this.told.length = 0;
    this.served = new Map();
    this.client.send = function (this: unknown, ...args: Call['args']) {
      return answer({ args, client: this });
    };
  }

  resetHistory(): void {
    this.received.length = 0;
  }

  /** The answers, by command, of what no `on` of a test matches. Any other command is answered with undefined. */
  serve(answers: readonly (readonly [command: CommandClass<Command<unknown>>, answer: Answer])[]): void {
    this.served = new Map<unknown, Answer>(answers);
  }

  /** The answers to commands of a class with this input, or with more. */
  on<Output>(command: CommandClass<Command<Output>>, input: object = {}): Told<Output> {
    const told = new Told<Output>(this, (made) => made instanceof command && includes(made.input, input));
    this.told.push(told);
    return told;
  }

  rejects(error: Error): MockedClient {
    return this.onAny().rejects(error);
  }

  callsFake(answer: Answer): MockedClient {
    return this.onAny().callsFake(answer);
  }

  calls(): readonly Call[] {
    return this.received;
  }

  commandCalls<Made extends Command<unknown>>(command: CommandClass<Made>): Call<Made>[] {
    return this.received.filter((call): call is Call<Made> => call.args[0] instanceof command);
  }

  private onAny(): Told<unknown> {
    const told = new Told<unknown>(this, () => true);
    this.told.push(told);
    return told;
  }

  private answer(call: Call): unknown {
    const [command] = call.args;
    this.received.push(call);
    const told = this.told.findLast((one) => one.matches(command))?.next();
    try {
      return (told ?? this.served.get(command.constructor))?.(command.input);
    } catch (error) {
      return Promise.reject(error);
    }
  }
}

/** The answers of matching commands: each of those told once, and from there on the one told for always, or as served. */
class Told<Output> {
  private readonly once: Answer[] = [];
  private readonly mocked: MockedClient;
  readonly matches: (command: Command<unknown>) => boolean;
  private always: Answer | undefined;

  constructor(mocked: MockedClient, matches: (command: Command<unknown>) => boolean) {
    this.mocked = mocked;
    this.matches = matches;
  }

  next(): Answer | undefined {
    return this.once.shift() ?? this.always;
  }

  resolves(output: Partial<Output>): MockedClient {
    return this.callsFake(async () => output);
  }

  resolvesOnce(output: Partial<Output>): this {
    return this.callsFakeOnce(async () => output);
  }

  rejects(error: Error): MockedClient {
    return this.callsFake(() => Promise.reject(error));
  }

  rejectsOnce(error: Error): this {
    return this.callsFakeOnce(() => Promise.reject(error));
  }

  callsFake(answer: Answer): MockedClient {
    this.always = answer;
    return this.mocked;
  }

  callsFakeOnce(answer: Answer): this {
    this.once.push(answer);
    return this;
  }
}

/** Whether a value is another, or an object with all of the other's parts. */
const includes = (value: unknown, wanted: unknown): boolean =>
  Object.getPrototypeOf(wanted ?? '') === Object.prototype
    ? Object.entries(wanted as object).every(([name, part]) =>
        includes((value as Record<string, unknown> | undefined)?.[name], part),
      )
    : isDeepStrictEqual(value, wanted);
