import { setFlagsFromString } from 'node:v8';
import vm from 'node:vm';
import NodeEnvironment from 'jest-environment-node';

/**
 * Node's environment, in which a worker compiles each library once. Jest loads libraries anew for every test file, itself among them. Node
 * does not share compiled code that can import dynamically: it was compiled for every file, and the compiled code kept all of the file's
 * modules in memory.
 */
export default NodeEnvironment;

// Compiled code would be dropped that has not run for a few collections, such as during one test.
setFlagsFromString('--no-flush-bytecode');

const { compileFunction } = vm;
vm.compileFunction = (code, parameters, { importModuleDynamically, ...options } = {}) =>
  compileFunction(
    code,
    parameters,
    /\bimport\s*\(/.test(code) ? { importModuleDynamically, ...options } : options,
  );
