/** Measures every known fault, one after the other in this process, and prints the results as JSON. */
import { loadDeployment } from '../start.ts';

const deployment = await loadDeployment();
// Only now: what it imports must find the stand-ins.
const { measureAll } = await import('./all.ts');
try {
  process.stdout.write(`${JSON.stringify(await measureAll(deployment))}\n`);
} catch (error) {
  // Uncaught, it would be printed with the source of the video encoder, which rethrows it.
  process.stderr.write(`${(error as Error).stack}\n`);
  process.exitCode = 1;
}
