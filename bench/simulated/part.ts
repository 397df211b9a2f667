/** Measures one part in a process of its own, whose clock the simulation replaces, and prints it as JSON: `part.ts costs`. */
// Before the tests' environment silences the logs, whose bytes are counted.
import '../../core/observability.ts';
import type { Part } from '../results.ts';

const PARTS: Record<string, () => Promise<Part>> = {
  costs: async () => (await import('../costs/measure.ts')).measureCosts(),
  waiting: async () => (await import('../waiting/measure.ts')).measureWaiting(),
};

const name = process.argv[2] ?? '';
const measure = PARTS[name];
if (!measure) throw new Error(`There is no part ${name}.`);
process.stdout.write(`${JSON.stringify(await measure())}\n`);
