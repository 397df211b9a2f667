import type { Progress } from '../progress.ts';
import { CheckFailedError, type CheckResult, describeFailure, ensure } from '../smoke/check.ts';
import { poll } from '../smoke/poll.ts';
import type { Release, Releases } from './releases.ts';
import type { Stage } from './stage.ts';
import { newImage, startWork, type Work } from './work.ts';

/** The stage, and what an operator finds out about it. */
export interface RehearsalStage extends Stage {
  /** Problems of the customer's ledger, in words. */
  ledgerProblems(): Promise<string[]>;
  /** Executions of requests and of the expiry that did not succeed. */
  failedExecutions(): Promise<string[]>;
}

/** What a rehearsal needs. */
export interface Rehearsal {
  releases: Releases;
  /** The tag of the release to upgrade from. */
  tag: string;
  /** Connects to the stack once it is deployed, with a new account. */
  open(): Promise<RehearsalStage>;
  progress: Progress;
  now(): Date;
}

const PROBE_MS = 500;

/** A step has failed without which the next ones mean nothing. Its result is in the report. */
class StoppedError extends Error {}

/** The steps of a rehearsal, and their results so far. */
class Steps {
  readonly results: CheckResult[] = [];
  private readonly rehearsal: Rehearsal;

  constructor(rehearsal: Rehearsal) {
    this.rehearsal = rehearsal;
  }

  /** Runs a step; its result. Never rejects. */
  async attempt(name: string, run: () => Promise<string>): Promise<CheckResult> {
    const { progress } = this.rehearsal;
    progress.update(name);
    const startedAt = performance.now();
    const found = await run().then(
      (detail) => ({ result: 'passed' as const, detail }),
      (error: unknown) => ({ result: 'failed' as const, detail: describeFailure(error) }),
    );
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    const result = { name, seconds, ...found };
    this.results.push(result);
    progress[found.result === 'passed' ? 'succeed' : 'fail'](`${name}: ${found.detail}`);
    return result;
  }

  /** Runs a step and returns its value. Throws `StoppedError` when the step fails. */
  async get<T>(name: string, run: () => Promise<T>, detailOf: (value: T) => string): Promise<T> {
    let value: { it: T } | undefined;
    await this.attempt(name, async () => {
      value = { it: await run() };
      return detailOf(value.it);
    });
    if (!value) throw new StoppedError();
    return value.it;
  }

  deploy(release: Release, of: string): Promise<string> {
    const { releases } = this.rehearsal;
    return this.get(
      `${of}: deployment`,
      async () => {
        await releases.deploy(release);
        return this.rehearsal.now().toISOString();
      },
      () => release.version,
    );
  }

  /** Deploys a release over the other release, with work of each kind in progress. */
  async move(stage: RehearsalStage, round: string, to: Release, isExpected: VersionCheck): Promise<void> {
    const work = await this.get(
      `${round}: work under way`,
      () => startWork(stage, round),
      (all) => all.map(({ name }) => name).join(', '),
    );
    const probe = startProbe(stage);
    const during = Promise.allSettled(work.map((one) => one.during?.()));
    const deployedAt = await this.deploy(to, round).finally(() => probe.stop());
    await this.attempt(`${round}: answers during the deployment`, async () => probe.report());
    const others = await during;
    await this.attempt(`${round}: version that answers`, () => versionOf(stage, isExpected));
    for (const [index, one] of work.entries()) {
      await this.attempt(`${round}: ${one.name}`, () => endOf(one, others[index], deployedAt));
    }
    await this.attempt(`${round}: a new image`, () => newImage(stage, round));
  }

  async checkBooks(stage: RehearsalStage): Promise<void> {
    await this.attempt('the ledger', async () => noneOf(await stage.ledgerProblems(), 'adds up'));
    await this.attempt('executions', async () =>
      noneOf(await stage.failedExecutions(), 'none of a request or of the expiry has failed'),
    );
  }

  /** Destroys the stack, as `deployed` if anything was, and removes the checkout. */
  async cleanUp(deployed: Release | undefined): Promise<void> {
    const { releases, tag } = this.rehearsal;
    if (deployed) {
      await this.attempt('destruction', async () => {
        await releases.destroy(deployed);
        return 'the stack is gone';
      });
    }
    await this.attempt('removal of the checkout', async () => {
      await releases.remove();
      return tag;
    });
  }
}

/**
 * Deploys a release, starts work of each kind, deploys these sources over it, and checks how the work ends; then the same back to the release.
 * Destroys the stack, whatever came before. Never rejects.
 */
export const rehearse = async (rehearsal: Rehearsal): Promise<CheckResult[]> => {
  const { releases, tag, open, progress } = rehearsal;
  const steps = new Steps(rehearsal);
  let deployed: Release | undefined;
  try {
    const from = await steps.get(
      `checkout of ${tag}`,
      () => releases.checkOut(tag),
      ({ version }) => version,
    );
    const to = await steps.get(
      'these sources',
      () => releases.present(),
      ({ version }) => version,
    );
    deployed = from;
    await steps.deploy(from, 'first');
    const stage = await steps.get('a new account', open, () => 'with its key and money');
    deployed = to;
    await steps.move(stage, 'upgrade', to, (version) => version === to.version);
    deployed = from;
    await steps.move(stage, 'back', from, (version) => version !== to.version);
    await steps.checkBooks(stage);
  } catch (error) {
    if (!(error instanceof StoppedError)) throw error;
  } finally {
    await steps.cleanUp(deployed);
    progress.stop();
  }
  return steps.results;
};

type VersionCheck = (version: string | null) => boolean;

const noneOf = (problems: readonly string[], otherwise: string): string => {
  ensure(problems.length === 0, problems.join(' '));
  return otherwise;
};

const endOf = (work: Work, during: PromiseSettledResult<unknown> | undefined, deployedAt: string) => {
  if (during?.status === 'rejected') throw during.reason;
  return work.ended(deployedAt);
};

/** The version in an answer, once it is as expected: a gateway takes a moment to know a deployment. */
const versionOf = async (stage: Stage, isExpected: VersionCheck): Promise<string> => {
  let version: string | null = null;
  const found = await poll(stage, { everySeconds: 1, forSeconds: stage.patienceSeconds }, async () => {
    const { headers } = await stage.caller.call('GET', '/v1/balance', { key: stage.key });
    version = headers.get('x-service-version');
    return isExpected(version) ? (version ?? 'one that does not say') : undefined;
  });
  if (found === undefined) throw new CheckFailedError(`The API still answers as ${version}.`);
  return found;
};

/** Calls the API all the time, and counts its answers. */
const startProbe = (stage: Stage) => {
  const counts = new Map<string, number>();
  let isOver = false;
  const loop = async (): Promise<void> => {
    while (!isOver) {
      const answer = await stage.caller
        .call('GET', '/v1/balance', { key: stage.key })
        .then(({ status }) => String(status), describeFailure);
      counts.set(answer, (counts.get(answer) ?? 0) + 1);
      await stage.pause(PROBE_MS);
    }
  };
  const done = loop();
  return {
    async stop(): Promise<void> {
      isOver = true;
      await done;
    },
    report(): string {
      const text = [...counts].map(([answer, count]) => `${answer} x ${count}`).join(', ');
      ensure(
        [...counts.keys()].every((answer) => answer === '200'),
        text,
      );
      return text;
    },
  };
};
