import { Session } from 'node:inspector/promises';
import { setFlagsFromString } from 'node:v8';
import vm from 'node:vm';
import { CoverageInstrumenter } from 'collect-v8-coverage';
import { TestEnvironment } from 'jest-environment-node';

/**
 * Node's environment, in which a worker compiles each library once. Jest loads libraries anew for every test file, itself among them. Node
 * does not share compiled code that can import dynamically: it was compiled for every file, and the compiled code kept all of the file's
 * modules in memory.
 */
export default TestEnvironment;

// Compiled code would be dropped that has not run for a few collections, such as during one test.
setFlagsFromString('--no-flush-bytecode');

const { compileFunction } = vm;
vm.compileFunction = (code, parameters, { importModuleDynamically, ...options } = {}) =>
  compileFunction(
    code,
    parameters,
    /\bimport\s*\(/.test(code) ? { importModuleDynamically, ...options } : options,
  );

/** The inspector's session that counts for all test files of this worker, under `--coverage`. */
let counting: Session | undefined;

/**
 * Counts for coverage from a worker's first test file to its last. Jest begins anew for each file, with a debugger: each time, V8 walks the
 * whole heap, which was half of the processor time of a run.
 */
CoverageInstrumenter.prototype.startInstrumenting = async () => {
  if (counting) return;
  counting = new Session();
  counting.connect();
  await counting.post('Profiler.enable');
  await counting.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
};

/** Returns what ran since the last call: V8 sets its counters back. */
CoverageInstrumenter.prototype.stopInstrumenting = async () => {
  if (!counting) throw new Error('Coverage is not counted yet.');
  return (await counting.post('Profiler.takePreciseCoverage')).result;
};
