import type { Scheduler } from './scheduler.ts';

/**
 * The services that can fail as a whole, for a while. `index` is the table's indexes, `files` the providers' files.
 */
export const SERVICES = [
  'table',
  'index',
  'bucket',
  'secrets',
  'step-functions',
  'functions',
  'modelark',
  'modelstudio',
  'fal',
  'files',
] as const;
export type Service = (typeof SERVICES)[number];

/** The services that make images and videos for us. */
export const PROVIDERS = ['modelark', 'modelstudio', 'fal'] as const satisfies Service[];

/** Whether a service makes images and videos for us. */
export const isProvider = (service: Service | undefined): service is (typeof PROVIDERS)[number] =>
  (PROVIDERS as readonly (Service | undefined)[]).includes(service);

/** How it is out of order: an error at once, a throttle, silence, or an answer that takes long. */
export const OUTAGE_MODES = ['refuses', 'throttles', 'hangs', 'slow'] as const;
/**
 * How a provider is; `revoked` is our credential, and one that `breaks` answers with a 5xx. One whose `quota` is used up takes no creation, and
 * asks to be left alone for an hour.
 */
export const PROVIDER_OUTAGE_MODES = [...OUTAGE_MODES, 'revoked', 'breaks', 'quota'] as const;
export type OutageMode = (typeof PROVIDER_OUTAGE_MODES)[number];

/** One outage: from when, counted from the first step, and for how long. */
export interface PlannedOutage {
  service: Service;
  mode: OutageMode;
  startMs: number;
  lengthMs: number;
  /** The only partition of the table that is; of the indexes, the only kind of partition that they show late. */
  partition?: string;
}

/** The outages of one run. */
export class Outages {
  /** How many calls met one. */
  met = 0;
  private readonly planned: PlannedOutage[];
  private readonly scheduler: Scheduler;
  private beganAt = Number.POSITIVE_INFINITY;

  constructor(planned: readonly PlannedOutage[], scheduler: Scheduler) {
    this.planned = [...planned];
    this.scheduler = scheduler;
  }

  /** Counts the outages from now on. */
  begin(): void {
    this.beganAt = this.scheduler.now;
  }

  /** Adds an outage that begins now. */
  add(outage: Omit<PlannedOutage, 'startMs'>): void {
    this.planned.push({ ...outage, startMs: this.scheduler.now - this.beganAt });
  }

  /** All of them, in epoch milliseconds. */
  all(): { service: Service; mode: OutageMode; from: number; to: number }[] {
    return this.planned.map((outage) => ({
      ...{ service: outage.service, mode: outage.mode },
      from: this.beganAt + outage.startMs,
      to: this.endOf(outage),
    }));
  }

  /** When the last one is over, in epoch milliseconds. */
  get endsAt(): number {
    return Math.max(this.beganAt, ...this.planned.map((outage) => this.endOf(outage)));
  }

  /** How a service is out of order now, for a call to these partitions of the table. */
  modeOf(service: Service | undefined, partitions: readonly string[] = []): OutageMode | undefined {
    return this.current(service, partitions)?.mode;
  }

  /** When the service's present outage is over, for these partitions of the table; now when it has none. */
  endOfCurrent(service: Service, partitions: readonly string[] = []): number {
    const outage = this.current(service, partitions);
    return outage ? this.endOf(outage) : this.scheduler.now;
  }

  private current(service: Service | undefined, partitions: readonly string[]): PlannedOutage | undefined {
    const { now } = this.scheduler;
    return this.planned.find(
      (outage) =>
        outage.service === service &&
        (outage.partition === undefined || partitions.includes(outage.partition)) &&
        this.beganAt + outage.startMs <= now &&
        now < this.endOf(outage),
    );
  }

  private endOf({ startMs, lengthMs }: PlannedOutage): number {
    return this.beganAt + startMs + lengthMs;
  }
}

/** An outage as a report shows it. */
export const outageText = ({ service, mode, startMs, lengthMs }: PlannedOutage): string =>
  `${service} ${mode} from ${startMs} for ${lengthMs} ms`;

/** The kind of a partition: what comes before its name. */
export const kindOf = (partition: string): string => partition.slice(0, partition.indexOf('#') + 1);
