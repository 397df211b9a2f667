import { makeCall } from '../engine/effects.ts';
import { Part } from '../part.ts';
import type { World } from '../world.ts';
import type { ClientLimits } from './client-limits.ts';

/** How long a function may use an old value: `docs/operating.md`. And how far their clocks may be apart. */
const KEPT_MS = 1_200_000;
const CLOCKS_APART_MS = 4_000;

/** A value of a secret: until when it is taken, in epoch milliseconds, and since when there is a newer one. */
interface Version {
  value: string;
  takenUntil: number;
  replacedAt: number;
}

/** Secrets Manager, with the operators who put new values and revoke old ones at the providers. */
export class Secrets extends Part {
  private readonly versions = new Map<string, Version[]>();

  /** Puts a new value. The old one is taken for `graceMs` more. */
  rotate(name: string, graceMs: number): void {
    const { now } = this.world.scheduler;
    const versions = this.versionsOf(name);
    const last = versions.at(-1);
    if (last) Object.assign(last, { replacedAt: now, takenUntil: now + graceMs });
    versions.push(version(`${name} ${versions.length}`));
    this.world.log(() => `  ${name} has a new value, the old one is taken for ${graceMs} ms`);
  }

  /**
   * A version as the service answers it, with the time of its creation, when the previous version was replaced.
   * Undefined when there is none.
   */
  versionOf(name: string, stage: string): { SecretString: string; CreatedDate: Date } | undefined {
    const versions = this.versionsOf(name);
    const index = stage === 'AWSPREVIOUS' ? -2 : -1;
    const found = versions.at(index);
    const createdAt = versions.at(index - 1)?.replacedAt ?? 0;
    return found && { SecretString: found.value, CreatedDate: new Date(createdAt) };
  }

  /** Whether a provider takes this value. */
  takes(name: string, value: string): boolean {
    const { now } = this.world.scheduler;
    const known = this.versionsOf(name).find((one) => one.value === value);
    if (known && now < known.takenUntil) return true;
    const isEarly = known && known.takenUntil - known.replacedAt < KEPT_MS + CLOCKS_APART_MS;
    if (!isEarly)
      this.report(`[rotation] ${value} is used ${now - (known?.takenUntil ?? 0)} ms after its end`);
    return false;
  }

  private versionsOf(name: string): Version[] {
    const known = this.versions.get(name) ?? [version(`${name} 0`)];
    this.versions.set(name, known);
    return known;
  }
}

const version = (value: string): Version => ({
  value,
  takenUntil: Number.POSITIVE_INFINITY,
  replacedAt: Number.POSITIVE_INFINITY,
});

/** What the client's `send` does with a command. `signingKey` is the only secret with a form of its own. */
export const sendToSecrets = (
  world: World,
  command: string,
  { SecretId, VersionStage = 'AWSCURRENT' }: Record<string, unknown>,
  limits: ClientLimits,
  signingKey: string,
): Promise<unknown> => {
  const secretId = String(SecretId);
  return makeCall(world, {
    ...limits,
    name: `${command} ${secretId}`,
    service: 'secrets',
    perform: () => {
      if (command === 'DescribeSecretCommand') return { VersionIdsToStages: { v1: ['AWSCURRENT'] } };
      if (secretId.includes('delivery')) return { SecretString: signingKey };
      const found = world.secrets.versionOf(secretId, String(VersionStage));
      if (!found) throw Object.assign(new Error('no such version'), { name: 'ResourceNotFoundException' });
      return found;
    },
  });
};
