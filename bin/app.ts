import { App } from 'aws-cdk-lib';
import { cachedBundles } from '../lib/bundle-cache.ts';
import { readContext, type StackContext } from '../lib/context.ts';
import { ContextError } from '../lib/context-error.ts';
import { GenerationServiceStack } from '../lib/generation-service-stack.ts';
import { dataOf } from '../lib/own-models.ts';
import { findCommit } from '../lib/release.ts';

const app = new App();
const context = contextOrExit(app);
const bundleOf = await cachedBundles(dataOf(context.models));

new GenerationServiceStack(app, 'GenerationService', {
  stackName: context.stackName,
  description: 'Asynchronous image and video generation behind one prepaid API',
  context,
  bundleOf,
  commit: findCommit(),
});

app.synth();

/** Says what is wrong with the context in place of a stack trace, which says where this program found out. */
function contextOrExit({ node }: App): StackContext {
  try {
    return readContext(node);
  } catch (error) {
    if (!(error instanceof ContextError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
