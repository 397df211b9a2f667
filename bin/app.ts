import { App } from 'aws-cdk-lib';
import { cachedBundles } from '../lib/bundle-cache.ts';
import { readContext } from '../lib/context.ts';
import { GenerationServiceStack } from '../lib/generation-service-stack.ts';
import { dataOf } from '../lib/own-models.ts';
import { findCommit } from '../lib/release.ts';

const app = new App();
const context = readContext(app.node);
const bundleOf = await cachedBundles(dataOf(context.models));

new GenerationServiceStack(app, 'GenerationService', {
  stackName: context.stackName,
  description: 'Asynchronous image and video generation behind one prepaid API',
  context,
  bundleOf,
  commit: findCommit(),
});

app.synth();
