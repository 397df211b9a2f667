import { type Command, Option } from 'commander';
import { requiredEnv } from '../../core/environment.ts';
import { ConflictError } from '../../core/errors.ts';
import { runsAny } from '../../core/executions/stop-executions.ts';
import type { Instant } from '../../core/time.ts';
import { instantOrLatest } from '../options.ts';
import type { Result } from '../output.ts';
import { compare, type Examined, examine, type Restored, verifyTable } from '../restore/examination.ts';
import { onTable } from '../restore/on-table.ts';
import { repeatRemovals } from '../restore/repeat-removals.ts';
import { describeExamined, jsonOfExamined } from '../restore/report.ts';
import {
  copySettings,
  deleteTable,
  denyWrites,
  recoveryWindowOf,
  restoredTableName,
  restoreTable,
} from '../restore/restored-table.ts';
import type { Perform, Recorder, Surroundings, Verb } from '../verb.ts';

/** `table restore`, `rehearse` */
export const addTableVerbs = (table: Command, perform: Perform): void => {
  table
    .command('restore')
    .description(
      'restore the table to an instant, beside the living one, and compare the two; with --yes prepare it for the stack to use',
    )
    .addOption(
      new Option('--at <time>', 'a second of the last 35 days, or latest')
        .argParser(instantOrLatest)
        .makeOptionMandatory(),
    )
    .option('--yes', 'adopt it: deny writes to the living table, and do again what was removed there since')
    .option('--accept-problems', 'adopt it though its ledgers do not add up')
    .action(perform(restore));
  table
    .command('rehearse')
    .description('restore the table to the latest instant, compare, verify its ledgers, and delete it again')
    .action(perform(rehearse));
};

interface RestoreOptions {
  at: Instant | 'latest';
  yes?: true;
  acceptProblems?: true;
}

const restore: Verb<RestoreOptions> = async ({ at, yes, acceptProblems }, connected, { say, recorder }) => {
  await connected();
  const living = requiredEnv('TABLE_NAME');
  const examined = await examine(await restoreBeside(living, at, '', say), say);
  const { problems } = examined.ledger;
  const failure = problems.length === 0 ? undefined : problemsIn(problems.length);
  if (!yes) {
    await compare(examined, say);
    return result(examined, [`Nothing is adopted yet: ${repeated(examined)}`], failure);
  }
  if (failure !== undefined && !acceptProblems) {
    await compare(examined, say);
    return result(examined, [], `${failure} Give another instant, or --accept-problems.`);
  }
  return adopt(living, examined, say, await recorder());
};

/** Restores beside the living table, and waits. */
const restoreBeside = async (
  living: string,
  at: Instant | 'latest',
  suffix: string,
  say: Surroundings['say'],
): Promise<Restored> => {
  const startedAtMs = Date.now();
  const instant = at === 'latest' ? (await recoveryWindowOf(living)).latest : at;
  const name = restoredTableName(living, instant) + suffix;
  const said = (status: string) => say(`restoring ${name}: ${status}`);
  const restoredTo = await restoreTable(living, { name, at, said });
  return { living, name, instant, restoredTo, startedAtMs };
};

/**
 * Makes the restored table the table in use:
 * 1. Refuse while requests are worked on: their executions would write to the current table, and stop halfway.
 * 2. Deny writes to the current table, then compare the tables: the comparison shows every loss.
 * 3. Repeat the removals that the current table has had since the restore point.
 * 4. Give the restored table its settings, record who adopted it, and verify the ledgers once more.
 */
const adopt = async (
  living: string,
  examined: Examined,
  say: Surroundings['say'],
  { put }: Recorder,
): Promise<Result> => {
  const { name } = examined;
  if (await runsAny(requiredEnv('GENERATION_STATE_MACHINE_ARN'))) {
    throw new ConflictError('Executions run: end them first by executions stop-all.');
  }
  say('denying writes to the living table');
  await denyWrites(living);
  const { removals } = await compare(examined, say);
  say('repeating removals');
  const left = await onTable(name, () => repeatRemovals(removals));
  if (left.length > 0) {
    const way = `Repeat the command, or give the table up: ${writableAgain(living)}`;
    return result(examined, [], `Not adopted: ${left.join(', ')}. ${way}`);
  }
  await copySettings(living, name);
  await onTable(name, () => put({ subject: name }));
  examined.ledger = await verifyTable(name, say);
  examined.adopted = true;
  const { problems } = examined.ledger;
  const failure = problems.length === 0 ? undefined : problemsIn(problems.length);
  return result(
    examined,
    [
      'The restored table is ready. Deploy the stack on it, with your other -c, and keep the key in cdk.json:',
      `  ${examined.deploy}`,
      `Writes to ${living} are denied. The way back is a deployment without the key, and before it:`,
      `  ${writableAgain(living)}`,
    ],
    failure,
  );
};

const repeated = ({ instant }: Examined): string => `table restore --at ${instant} --yes`;
const problemsIn = (count: number): string =>
  `The restored ledgers have ${count} problem${count === 1 ? '' : 's'}.`;
const writableAgain = (living: string): string =>
  `aws dynamodb delete-resource-policy --resource-arn $(aws dynamodb describe-table --table-name ${living} --query Table.TableArn --output text)`;

const result = (examined: Examined, lines: readonly string[], failure: string | undefined): Result => ({
  value: jsonOfExamined(examined),
  text: (columns) => [describeExamined(examined, columns), ...lines].join('\n'),
  ...(failure !== undefined && { failure }),
});

const rehearse: Verb<Record<string, never>> = async (_options, connected, { say }) => {
  await connected();
  const living = requiredEnv('TABLE_NAME');
  const restored = await restoreBeside(living, 'latest', '-rehearsal', say);
  let examined: Examined;
  try {
    examined = await examine(restored, say);
    await compare(examined, say);
  } finally {
    say('deleting the rehearsed table');
    await deleteTable(restored.name);
  }
  const { startedAtMs, restoredTo } = restored;
  const rtoSeconds = (Date.now() - startedAtMs) / 1_000;
  const rpoSeconds = Math.max(0, (startedAtMs - Date.parse(restoredTo)) / 1_000);
  const { problems } = examined.ledger;
  const text = [
    `Restored, compared and verified in ${rtoSeconds.toFixed(1)} s; without the deployment that adopts it.`,
    `Lost would be what was written in the last ${rpoSeconds.toFixed(0)} s before the command.`,
    `The table ${examined.name} is deleted again.`,
  ];
  return {
    value: { ...jsonOfExamined(examined), rtoSeconds, rpoSeconds },
    text: (columns) => [describeExamined(examined, columns), ...text].join('\n'),
    ...(problems.length > 0 && { failure: problemsIn(problems.length) }),
  };
};
