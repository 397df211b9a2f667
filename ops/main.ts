import { reserveStandardOutput } from './standard-output.ts';

const out = reserveStandardOutput();
// Loaded only now, so that no module can look at standard output or at its log settings before they are set.
const { run } = await import('./program.ts');
process.exitCode = await run(process.argv.slice(2), { out, err: (text) => process.stderr.write(text) });
