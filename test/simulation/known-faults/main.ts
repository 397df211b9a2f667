/** Measures one of these, by its name and an argument, in this process, and prints the result as JSON. */
import { loadDeployment } from '../start.ts';

const deployment = await loadDeployment();
// Only now: what it imports must find the stand-ins.
const { MEASUREMENTS } = await import('./measurements.ts');
const [, , name = '', argument] = process.argv;
try {
  const measure = MEASUREMENTS[name as keyof typeof MEASUREMENTS];
  process.stdout.write(`${JSON.stringify(await measure(deployment, Number(argument)))}\n`);
} catch (error) {
  // Uncaught, it would be printed with the source of the video encoder, which rethrows it.
  process.stderr.write(`${(error as Error).stack}\n`);
  process.exitCode = 1;
}
