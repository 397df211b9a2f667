import { Command, InvalidArgumentError, type OutputConfiguration } from 'commander';

/** A command of this project's scripts, which prints its help as text and refuses anything unknown in one line. */
export const plainCommand = (name: string, description: string, output: OutputConfiguration = {}): Command =>
  new Command(name).description(description).configureOutput({
    outputError: (text, write) => write(`${text.trimEnd().replaceAll('\n', ' ')}\n`),
    ...output,
  });

/** A whole number from 0. */
export const wholeNumber = (value: string): number => {
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('It must be a whole number.');
};

/** A whole number from 1. */
export const positiveNumber = (value: string): number => {
  const number = wholeNumber(value);
  if (number > 0) return number;
  throw new InvalidArgumentError('It must be at least 1.');
};
