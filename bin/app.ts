import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { bundleFunctions } from '../lib/bundle-functions.ts';
import { readContext } from '../lib/context.ts';
import { GenerationServiceStack } from '../lib/generation-service-stack.ts';

const app = new App();
const bundleOf = await bundleFunctions(join(app.outdir, 'bundles'));

new GenerationServiceStack(app, 'GenerationService', {
  description: 'Asynchronous image and video generation behind one prepaid API',
  context: readContext(app.node),
  bundleOf,
});

app.synth();
