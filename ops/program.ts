import { Command, CommanderError, Help } from 'commander';
import { ServiceError } from '../core/errors.ts';
import { addAccountVerbs } from './commands/accounts.ts';
import { addAuditVerbs } from './commands/audit.ts';
import { addBalanceVerbs } from './commands/balance.ts';
import { addCompletionVerbs } from './commands/completion.ts';
import { consoleVerb } from './commands/console.ts';
import { addEndUserVerbs } from './commands/end-users.ts';
import { addExecutionVerbs } from './commands/executions.ts';
import { addKeyVerbs } from './commands/keys.ts';
import { addLedgerVerbs } from './commands/ledger.ts';
import { addModelVerbs } from './commands/models.ts';
import { addRateVerbs } from './commands/rates.ts';
import { addRequestVerbs } from './commands/requests.ts';
import { addRouteCostVerbs } from './commands/route-costs.ts';
import { addRouteVerbs } from './commands/routes.ts';
import { addTableVerbs } from './commands/table.ts';
import { addUsageVerbs } from './commands/usage.ts';
import { addUsageCostsVerb } from './commands/usage-costs.ts';
import { versionVerb } from './commands/version.ts';
import { hintFor } from './hints.ts';
import { name, text } from './options.ts';
import { connect, DEFAULT_DATA_DIRECTORY, DEFAULT_STACK, TargetError } from './target.ts';
import { escapedLine, withoutSecrets } from './terminal-text.ts';
import { FailureFoundError, performer, type Said, type Streams, UsageError } from './verb.ts';

/** Exit statuses. `refused` also covers not found and failed. */
const EXIT = { done: 0, refused: 1, usage: 2 } as const;
export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

const errorLine = (line: string): string => withoutSecrets(escapedLine(line));

/** Runs one command, on the service that `connectTo` leads to, and returns its exit status. Never rejects. */
export const run = async (
  args: readonly string[],
  streams: Streams,
  connectTo: typeof connect = connect,
): Promise<ExitStatus> => {
  try {
    await createProgram(streams, connectTo).parseAsync(args, { from: 'user' });
    return EXIT.done;
  } catch (error) {
    // Commander has already printed the error or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    streams.err(`${errorLine(describe(error, streams.hints ?? true))}\n`);
    return error instanceof UsageError ? EXIT.usage : EXIT.refused;
  }
};

/** Runs one command as `run` does for a page of the console, and returns what it printed. */
export const runToText = async (
  args: readonly string[],
  connectTo: typeof connect = connect,
): Promise<Said> => {
  const said = { stdout: '', stderr: '' };
  const out = (text: string) => {
    said.stdout += text;
  };
  const err = (text: string) => {
    said.stderr += text;
  };
  return { status: await run(args, { out, err, hints: false }, connectTo), ...said };
};

const help = new Help();

const describeOption: Help['optionDescription'] = (option) =>
  `${help.optionDescription(option)}${option.mandatory ? ' (required)' : ''}`;

/** A terminal is at most as wide as this for a text. */
const MAX_HELP_COLUMNS = 100;
const helpWidth = ({ columns = 80 }: Streams): number => Math.min(columns, MAX_HELP_COLUMNS);

const createProgram = (streams: Streams, connectTo: typeof connect): Command => {
  const program = new Command('ops')
    .usage('<noun> <verb> [id] [options]')
    .description('Operates the service: the local run when one is up, else the deployed stack.')
    .option('--json', 'print exactly one JSON value')
    .option('--data-dir <path>', `data directory of the local run (default: ${DEFAULT_DATA_DIRECTORY})`, text)
    .option('--stack <name>', `deployed stack (default: ${DEFAULT_STACK}, when no local run is up)`, text)
    .option('--region <name>', 'its AWS region (default: that of your AWS settings)', text)
    .option('--actor <name>', 'who makes a change, as `audit list` shows it', name)
    .configureHelp({
      showGlobalOptions: true,
      optionDescription: describeOption,
      subcommandTerm: (command) => command.name(),
    })
    .configureOutput({
      writeOut: streams.out,
      writeErr: (text) => streams.err(text.split('\n').map(errorLine).join('\n')),
      getOutHelpWidth: () => helpWidth(streams),
      getErrHelpWidth: () => helpWidth(streams),
    })
    .showHelpAfterError('Add --help to see what can be given.')
    .exitOverride();
  const perform = performer(streams, connectTo);
  const noun = (name: string, description: string) => program.command(name).description(description);
  addAccountVerbs(noun('accounts', 'accounts, their limits and webhook secrets'), perform);
  addKeyVerbs(noun('keys', 'API keys of an account'), perform);
  addBalanceVerbs(noun('balance', "an account's xTokens"), perform);
  const usage = noun('usage', 'what was used in a month, by account, model and more');
  addUsageVerbs(usage, perform);
  addUsageCostsVerb(usage, perform);
  addEndUserVerbs(noun('end-users', "an account's own users"), perform);
  addRateVerbs(noun('rates', 'what each model costs'), perform);
  addModelVerbs(noun('models', 'models and whether they can be used'), perform);
  const routes = noun('routes', 'the providers behind the models, and their capacity');
  addRouteVerbs(routes, perform);
  addRouteCostVerbs(routes, perform);
  addRequestVerbs(noun('requests', 'requests for images and videos'), perform);
  addExecutionVerbs(noun('executions', 'running executions of the state machines'), perform);
  addLedgerVerbs(noun('ledger', 'checks that all money is accounted for'), perform);
  addTableVerbs(noun('table', 'restores the table, and rehearses that'), perform);
  noun('version', 'versions of this command line and of the service').action(perform(versionVerb));
  addAuditVerbs(noun('audit', 'changes by staff'), perform);
  noun('console', 'shows the service in a browser, until Ctrl-C').action(perform(consoleVerb(runToText)));
  addCompletionVerbs(noun('completion', 'completes commands in a shell'), perform, program);
  return program;
};

/** Errors whose messages are written for operators. */
const OPERATOR_ERRORS = [ServiceError, TargetError, UsageError, FailureFoundError];

/** One line on what went wrong. Unexpected errors include their name, which often says more than their message. */
const describe = (error: unknown, hasHint: boolean): string => {
  if (!(error instanceof Error)) return String(error);
  const isExpected = OPERATOR_ERRORS.some((kind) => error instanceof kind);
  const { code } = error as NodeJS.ErrnoException;
  const message = error.message || String(code ?? 'no message');
  const line = isExpected ? message : `${error.name}: ${message}`;
  const hint = hasHint ? hintFor(error) : '';
  return `${hint === '' || /[.!?]$/.test(line) ? line : `${line}.`} ${hint}`
    .replaceAll(/[ \t\n\r]+/g, ' ')
    .trim();
};
