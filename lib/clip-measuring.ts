import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { ServiceFunction } from './service-function.ts';

/** Copying takes at most 8 s; the rest is for its answer. */
const TIMEOUT_SECONDS = 10;

/**
 * Copies and measures reference videos. Untrusted files are parsed in a separate function, so never in the
 * function that debits accounts. Its role can only write its log, and put and delete copies under their
 * prefix.
 */
export class ClipMeasuring extends Construct {
  readonly measureClips: ServiceFunction;

  constructor(scope: Construct, id: string, bundleOf: (name: string) => string) {
    super(scope, id);
    this.measureClips = new ServiceFunction(this, 'MeasureClips', {
      bundle: bundleOf('media/measure-clips'),
      description: 'Copies and measures reference videos',
      timeout: Duration.seconds(TIMEOUT_SECONDS),
      // One processor: a caller waits while up to 500 MB pass through it.
      memorySize: 1769,
      // Five clips of 100 MB are on it at once.
      diskMegabytes: 1024,
    });
  }

  /** Lets functions invoke it. */
  bindInvoke(functions: readonly ServiceFunction[]): void {
    const { functionArn } = this.measureClips.lambda;
    for (const to of functions) {
      to.addEnvironment({ MEASURE_CLIPS_FUNCTION_ARN: functionArn });
      to.allow(['lambda:InvokeFunction'], [functionArn]);
    }
  }
}
