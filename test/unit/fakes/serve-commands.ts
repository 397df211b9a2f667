// biome-ignore lint/suspicious/noExplicitAny: each answer takes the input of its own command
type Input = any;
type Command = abstract new (input: Input) => object;

/** The part of a mocked client that answers what no `on` of a test matches. */
interface Mocked {
  send: { callsFake(answer: (command: { input: Input }) => Promise<Input>): unknown };
}

/**
 * Answers a mocked client's commands by their class; any other command is answered with undefined. A test's own `on`
 * wins. Thousands of calls of a property are fast, as nothing is matched: each `on` costs every call a deep comparison.
 */
export const serveCommands = (
  client: unknown,
  answers: readonly (readonly [command: Command, answer: (input: Input) => unknown])[],
): void => {
  const answerOf = new Map<unknown, (input: Input) => unknown>(answers);
  (client as Mocked).send.callsFake(async (command) => answerOf.get(command.constructor)?.(command.input));
};
