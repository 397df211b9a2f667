import type { Item } from '../../unit/fakes/expressions.ts';
import { type CreationCall, Evidence } from '../evidence/evidence.ts';
import { Witness } from '../evidence/witness.ts';
import { Lateness } from '../rules/lateness.ts';
import type { StoredObject } from './aws/bucket.ts';
import { type DeployedFunction, Lambda } from './aws/lambda.ts';
import { Secrets } from './aws/secrets.ts';
import { type Deployment, StepFunctions } from './aws/step-functions.ts';
import { Table, type Write } from './aws/table.ts';
import { FaultPlan, type PlannedFault } from './engine/faults.ts';
import { isProvider, kindOf, Outages, type PlannedOutage, type Service } from './engine/outages.ts';
import { Random } from './engine/random.ts';
import { Scheduler } from './engine/scheduler.ts';
import { Callbacks } from './upstream/callbacks.ts';
import { serveClips } from './upstream/clips.ts';
import { Http } from './upstream/http.ts';
import { Providers } from './upstream/providers.ts';
import { Receivers } from './upstream/receivers.ts';

/** A bug, put there on purpose. */
export interface Mutation {
  /** Makes of a transaction on its way to the table several ones or weaker ones. */
  writes?: (writes: readonly Write[]) => Write[][];
  /** What a function answers, by its name, instead of doing anything. */
  answers?: Readonly<Record<string, unknown>>;
  /** Whether a call of a function's never leaves it, and is answered with nothing. */
  drops?: (functionName: string, command: string, input: Record<string, unknown>) => boolean;
  /** What a run of a function reads in place of an item, in a read of several. */
  reads?: (item: Item, reader: object | undefined) => Item;
  /** The task that is asked about in place of one, given all tasks of its request. */
  asks?: (taskId: string, siblings: readonly string[]) => string;
  /** Whether every callback gets a right signature on its way. */
  signs?: boolean;
}

export interface WorldOptions {
  seed: number;
  faults: readonly PlannedFault[];
  outages?: readonly PlannedOutage[];
  startsAt: number;
  deployment: Deployment;
  mutation?: Mutation | undefined;
  /** Whether everything that happens is written down. */
  traced?: boolean;
}

/** How far behind an index is at the very worst: an assumption, DynamoDB promises no figure. */
const MAX_INDEX_LAG_MS = 300_000;
/** Problems that are some whatever the clocks show: of money, of repeated calls, of permits, of the stand-ins. */
const TIMELESS =
  /^(broken|ledger|acc_\w+: |the provider accepted|\[(count|overfull|moved|content moved|late call|thrown away)\])|changed after its end/;
/** How long after a fault or an outage calls may still suffer from it. */
const CALM_AFTER_MS = 120_000;

/** Everything around the service in a run: the time, the stand-ins for AWS and the providers, and the faults. */
export class World {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly faults: FaultPlan;
  readonly outages: Outages;
  readonly lateness: Lateness;
  readonly table: Table;
  /** The bucket's files by key. */
  readonly objects = new Map<string, StoredObject>();
  /** Told of each file that is removed. */
  readonly onFileRemoved: ((objectKey: string) => void)[] = [];
  /** The uploads in parts that were begun: each part by its number. */
  readonly uploads = new Map<string, Map<number, Uint8Array>>();
  /** Requests whose files S3 would not list or remove; the bucket's lifecycle rule removes the rest. */
  readonly unremovable = new Set<string>();
  readonly deployment: Deployment;
  readonly stepFunctions: StepFunctions;
  readonly lambda: Lambda;
  readonly secrets: Secrets;
  readonly providers: Providers;
  readonly http: Http;
  readonly receivers: Receivers;
  readonly callbacks: Callbacks;
  readonly evidence = new Evidence();
  readonly witness: Witness;
  /** Told of the keys of each read of several items, as it begins. */
  readonly onBatchRead: ((keys: readonly Item[]) => void)[] = [];
  /** Told of each creation call that is sent. */
  onSend: ((call: CreationCall) => void) | undefined;
  /** The sum of each metric that functions counted, by its name. */
  readonly metrics = new Map<string, number>();
  readonly mutation: Mutation | undefined;
  /** What happened, line by line, when it is written down. */
  readonly trace: string[] = [];
  /** What went wrong in the stand-ins themselves: the run is worth nothing then. */
  readonly broken: unknown[] = [];
  /** The rules that were broken while things happened. */
  readonly problems: string[] = [];
  /** Whether clocks were minutes apart. */
  hasBentTime = false;
  private readonly traced: boolean;
  private readonly startsAt: number;

  constructor({ seed, faults, outages = [], startsAt, deployment, mutation, traced = false }: WorldOptions) {
    this.scheduler = new Scheduler(startsAt);
    this.random = new Random(seed);
    this.faults = new FaultPlan(faults, this.random);
    this.outages = new Outages(outages, this.scheduler);
    this.lateness = new Lateness(() => this.outages.all());
    this.faults.onMet = (fault) => {
      this.lateness.add(fault, this.scheduler.now);
      this.disturb();
    };
    this.table = new Table(this.scheduler, this.random);
    this.table.indexLagMs = (partition) =>
      Math.min(
        MAX_INDEX_LAG_MS,
        this.outages.endOfCurrent('index', [kindOf(partition), partition]) - this.scheduler.now,
      );
    // Work that is due is found once its list shows it.
    this.table.onLateIndex = (shownAt) => {
      this.evidence.disturbedAt = Math.max(this.evidence.disturbedAt, shownAt);
    };
    this.deployment = deployment;
    this.stepFunctions = new StepFunctions(this, deployment);
    this.lambda = new Lambda(this);
    this.secrets = new Secrets(this);
    this.providers = new Providers(this);
    this.http = new Http(this, this.providers);
    this.receivers = new Receivers(this);
    this.callbacks = new Callbacks(this);
    this.witness = new Witness(this);
    serveClips(this);
    this.mutation = mutation;
    this.traced = traced;
    this.startsAt = startsAt;
  }

  /** Writes down what happens, if anybody wants to know. */
  log(text: () => string): void {
    if (!this.traced) return;
    const seconds = ((this.scheduler.now - this.startsAt) / 1000).toFixed(3);
    this.trace.push(`${seconds.padStart(12)} ${text()}`);
  }

  /** Records that something went wrong: what must hold in calm times is not judged for a while. */
  disturb(service?: Service): void {
    this.evidence.disturbedAt = Math.max(this.evidence.disturbedAt, this.scheduler.now);
    if (!isProvider(service)) this.evidence.faultAt = this.scheduler.now;
  }

  /** A provider gives an answer about a task that says nothing, or the contrary of another. */
  leaveUnread(service: Service | undefined): void {
    this.lateness.add('unread state', this.scheduler.now);
    this.disturb(service);
  }

  /** Whether the last fault or outage is long enough ago to affect no call any more. */
  isCalm(): boolean {
    return this.scheduler.now > this.evidence.disturbedAt + CALM_AFTER_MS;
  }

  /** A rule is broken. The same problem is told once. A run whose clocks were minutes apart keeps the rules that no clock decides. */
  report(problem: string): void {
    if (this.hasBentTime && !TIMELESS.test(problem)) return;
    if (!this.problems.includes(problem)) this.problems.push(problem);
  }

  break(error: unknown): void {
    this.broken.push(error);
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.report(`broken: ${text}`);
  }

  /** A function by its stem. Throws when the service has none of that name. */
  functionNamed(stem: string): DeployedFunction {
    const fn = this.deployment.functions.get(stem);
    if (!fn) throw new Error(`There is no function ${stem}.`);
    return fn;
  }

  /** Every item whose sort key begins like this. */
  items(sortPrefix: string): Item[] {
    return [...this.table.items.values()].filter(({ SK }) => String(SK).startsWith(sortPrefix));
  }

  /** The items of accounts. */
  accounts(): Item[] {
    return this.items('ACCOUNT').filter(({ SK }) => SK === 'ACCOUNT');
  }
}
