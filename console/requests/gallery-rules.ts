import { knownDimensions } from '../../core/models/image-sizes.ts';
import { type AnyRecord, isVideoId, type Output, outputsOf, statusAt } from '../state/record-rules.ts';

/** The ratio of what nothing is known of, such as a video whose model chooses. */
const USUAL_RATIO = 16 / 9;
/** The widest row of outputs of a request: more of them wrap. */
const MOST_RATIO = 4;

const ratioOfSize = (size: string | undefined, separator: string): number | undefined => {
  const [width, height] = (size ?? '').split(separator).map(Number);
  return width && height ? width / height : undefined;
};

/** The ratio of width to height that a request asks for. */
const askedRatio = ({ requestId, input }: AnyRecord): number => {
  if (!input) return isVideoId(requestId) ? USUAL_RATIO : 1;
  if ('resolution' in input) return ratioOfSize(input.ratio, ':') ?? USUAL_RATIO;
  if (!('size' in input)) return 1;
  const dimensions = knownDimensions(input.size, input.aspectRatio);
  return dimensions && dimensions.height > 0 ? dimensions.width / dimensions.height : 1;
};

/** The ratio of an output, of its file where it is known. */
export const ratioOfOutput = (record: AnyRecord, { size }: Output): number =>
  ratioOfSize(size, 'x') ?? askedRatio(record);

/** The ratio of a request's outputs beside each other. Without outputs, the ratio of one that was asked for. */
export const ratioOf = (record: AnyRecord): number => {
  const outputs = outputsOf(record);
  const sum = outputs.reduce((total, output) => total + ratioOfOutput(record, output), 0);
  return Math.min(MOST_RATIO, sum === 0 ? askedRatio(record) : sum);
};

/** Whether a request has nothing to see, now or later: it is shown as a line. */
export const isLine = (record: AnyRecord, now: Date): boolean =>
  ['failed', 'expired'].includes(statusAt(record, now));
