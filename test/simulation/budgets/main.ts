/** Spends against budgets in this process, as often as the argument says, and with a bug; prints both results as JSON. */
import { loadDeployment } from '../start.ts';

const deployment = await loadDeployment();
// Only now: what it imports must find the stand-ins.
const { spend, UNGUARDED } = await import('./spend.ts');
const CREATIONS_WITH_BUG = 400;
try {
  const spent = await spend(deployment, Number(process.argv[2]));
  const unguarded = await spend(deployment, CREATIONS_WITH_BUG, UNGUARDED);
  process.stdout.write(`${JSON.stringify({ spent, unguarded })}\n`);
} catch (error) {
  // Uncaught, it would be printed with the source of the video encoder, which rethrows it.
  process.stderr.write(`${(error as Error).stack}\n`);
  process.exitCode = 1;
}
