import type { APIGatewayProxyResult } from 'aws-lambda';
import { endWait, readHeld } from '../../core/creation/collection.ts';
import { createForCall } from '../../core/creation/create-for-call.ts';
import { videoSubmission } from '../../core/creation/submission.ts';
import { requiredEnv } from '../../core/environment.ts';
import { NotFoundError, ServiceError } from '../../core/errors.ts';
import { removeObjects } from '../../core/files/bucket.ts';
import { recordUrl } from '../../core/requests/render-record.ts';
import { sleep, systemClock, type WaitingClock } from '../../core/time.ts';
import { storeUpload } from '../../core/uploads/store-upload.ts';
import { json } from '../http/api-handler.ts';
import { type ApiRequest, wrongFields } from '../http/api-request.ts';
import { authorizeKey, identifyCaller } from '../http/authorize.ts';
import { digestOfImage, earlier, longCallOf, namedUploads } from './make-images.ts';
import { loadNamedModels } from './models.ts';
import { type AskedImages, type ImageFileFields, MAX_FORM_BYTES, readImageForm } from './read-calls.ts';
import { imageIn } from './read-edits.ts';
import { renderVideo } from './render-video.ts';
import { readVideoParameters } from './video-parameters.ts';

/** The field of the first frame in a form. The `openai` package writes an object's field in brackets. */
const REFERENCE: ImageFileFields = {
  names: ['input_reference', 'input_reference[image_url]'],
  most: 1,
  isRequired: false,
};

/** Reads the body of a creation: a form, or JSON. Throws `ValidationError` for a body that is neither, or too large. */
const readVideoCall = async (request: ApiRequest): Promise<AskedImages> => {
  if (/^multipart\/form-data\b/i.test(request.header('Content-Type') ?? '')) {
    const asked = await readImageForm(request, REFERENCE);
    return {
      ...asked,
      images: asked.images.map((image) => (typeof image === 'string' ? imageIn(image) : image)),
    };
  }
  const read = request.readBody(MAX_FORM_BYTES / 1024);
  if (!read.ok) throw read.error;
  const { input_reference: reference, ...given } = read.body;
  if (reference === undefined || reference === null) return { given, images: [], fields: {} };
  const url = typeof reference === 'object' && 'image_url' in reference ? reference.image_url : reference;
  // By the creation's name for the field, in place of what the rules of a creation say of an absent first frame.
  return typeof url === 'string'
    ? { given, images: [imageIn(url)], fields: {} }
    : { given, images: [], fields: { image: 'must be a URL, or an object with image_url' } };
};

/**
 * Creates a video as `POST /v1/videos` does, and answers at once. A retry, by the client's count, gets the request that its earlier call made;
 * equal calls without a count make a request each. 200 with the video. Throws the errors of a creation.
 */
export const createOpenAiVideo = async (
  request: ApiRequest,
  clock: WaitingClock = { ...systemClock, sleep },
): Promise<APIGatewayProxyResult> => {
  const { account, apiKey } = await authorizeKey(identifyCaller(request), 'generations:write', request.now);
  const { accountId } = account;
  const { now, route } = request;
  const asked = await readVideoCall(request);
  const models = await loadNamedModels('video', account, now);
  const { body, fields } = readVideoParameters(asked.given, {
    defaultEndUser: apiKey.defaultEndUser,
    models,
  });
  const { uploads, references } = namedUploads(asked.images, accountId, now);
  const [image] = references;
  const sent = { given: asked.given, images: asked.images.map(digestOfImage) };
  const submission = videoSubmission({
    ...{ route, sent, keyId: apiKey.keyId, now },
    body: { ok: true, body: { ...body, ...(image !== undefined && { image }) } },
    idempotencyKey: request.header('Idempotency-Key'),
    fields: { ...fields, ...asked.fields, ...wrongFields(() => request.idempotencyKey()) },
  });
  const call = longCallOf(request, submission, { accountId, kind: 'video', route, sent });
  const files = { uploads, store: storeUpload, remove: removeObjects };
  const held =
    (await earlier(call, submission.ok, clock)) ?? (await createForCall(account, submission, call, files));
  if (!held) throw new ServiceError('temporarily_unavailable', 'A retry of this call makes the video.');
  const { request: made } = await readHeld(held);
  if (made?.kind !== 'video') throw new NotFoundError(`The video ${held.requestId} was deleted.`);
  await endWait(held, 'answered', clock.now());
  const Location = recordUrl(requiredEnv('PUBLIC_BASE_URL'), made);
  return json(200, renderVideo(made, now), { Location, ...models.endOf(body.model) });
};
