import { type Command, Option } from 'commander';
import { text } from './options.ts';
import { UsageError } from './usage-error.ts';

/** What a command's argument stands for. */
interface Subject {
  /** The name of the option. */
  name: string;
  /** What it is, as in "Give the account". */
  what: string;
  /** An example of an id. */
  example: string;
  isRequired: boolean;
  /** Whether errors leave its text out. */
  isSecret: boolean;
}

const SUBJECTS = new WeakMap<Command, Subject[]>();

const EXAMPLES: Record<string, string> = {
  account: 'acc_01J…',
  id: 'img_01J…',
  model: 'xQI3Pro',
  route: 'fal/alibaba/wan-3.0',
  'key-id': 'key_0f3c…',
  email: 'ada@example.com',
  alias: 'gpt-image-1',
};

/**
 * Lets a command take an id as its argument or as an option of that name, which the verb gets either way. Arguments stand in the order of
 * these calls.
 */
export const about = (
  command: Command,
  name: string,
  what: string,
  {
    isRequired = true,
    parse = text,
    choices,
    isSecret = false,
  }: {
    isRequired?: boolean;
    parse?: (value: string) => string;
    choices?: readonly string[];
    isSecret?: boolean;
  } = {},
): Command => {
  const subject = { name, what, example: EXAMPLES[name] ?? name, isRequired, isSecret };
  SUBJECTS.set(command, [...(SUBJECTS.get(command) ?? []), subject]);
  const option = new Option(`--${name} <id>`, `${what}; also as the argument`);
  return command
    .argument(`[${name}]`, '', parse)
    .addOption((choices ? option.choices(choices) : option).argParser(parse));
};

/** A command as people type it, from the program on. */
const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

/** The options of a command, with those that were given as arguments. Throws `UsageError` when one is given twice or is missing. */
export const withSubjects = (
  command: Command,
  args: readonly (string | undefined)[],
  options: Record<string, unknown>,
): Record<string, unknown> => {
  const subjects = SUBJECTS.get(command) ?? [];
  const given = subjects.flatMap(({ name, what, example, isRequired, isSecret }, index) => {
    const key = name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    const [argument, option] = [args[index], options[key]];
    if (argument !== undefined && option !== undefined && argument !== option) {
      throw new UsageError(`Give ${what} once${isSecret ? '' : `: ${argument} is not ${option}`}.`);
    }
    if (isRequired && argument === undefined && option === undefined) {
      const examples = subjects.slice(0, index + 1).map((subject) => subject.example);
      const typed = [pathOf(command), ...examples].join(' ');
      throw new UsageError(`Give ${what}: ${typed}, or --${name} ${example}.`);
    }
    return argument === undefined ? [] : [[key, argument]];
  });
  return { ...options, ...Object.fromEntries(given) };
};
