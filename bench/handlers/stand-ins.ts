/** A client of AWS, or its class. */
interface Sender {
  send(command: unknown): Promise<unknown>;
}
interface SentCommand {
  constructor: { name: string };
  input: {
    Key?: { PK: string; SK: string };
    KeyConditionExpression?: string;
    ExpressionAttributeValues?: Record<string, unknown>;
  };
}

/** Clients that answer at once what the same calls were answered before. */
export class StandIns {
  /** The calls that were made for the first time, and answered by what stood behind the client before. */
  unknown = 0;
  private readonly answers = new Map<string, Promise<unknown>>();

  constructor(clients: readonly object[]) {
    for (const client of clients as Sender[]) this.replace(client);
  }

  /** Forgets all answers: the next calls are another handler's. */
  reset(): void {
    this.unknown = 0;
    this.answers.clear();
  }

  private replace(client: Sender): void {
    const { answers } = this;
    const { send } = client;
    const ask = (self: Sender, name: string, command: unknown): Promise<unknown> => {
      this.unknown++;
      const answer = send.call(self, command);
      answers.set(name, answer);
      return answer;
    };
    client.send = function (this: Sender, command) {
      const name = nameOf(command as SentCommand);
      return answers.get(name) ?? ask(this, name, command);
    };
  }
}

/** A name for calls with the same answer: a query's filter has the time in it. No handler sends two batches. */
const nameOf = ({ constructor: { name }, input }: SentCommand): string => {
  const { Key, KeyConditionExpression: condition, ExpressionAttributeValues = {} } = input;
  if (Key) return `${name} ${Key.PK} ${Key.SK}`;
  const values = (condition?.match(/:\w+/g) ?? []).map((value) => ExpressionAttributeValues[value]);
  return JSON.stringify([name, condition, values]);
};
