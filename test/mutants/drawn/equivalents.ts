/** Drawn bugs that change nothing that the service promises, each by its name, with the reason. */
export const EQUIVALENTS: ReadonlyMap<string, string> = new Map([
  [
    'branch forced in core/files/stored-files.ts listStoredFiles: Key && LastModified ? [{ objectKey: Key, sizeBytes: Size, storedAt: toInstant(LastModified) }] : [] => ([{ objectKey: Key, sizeBytes: Size, storedAt: toInstant(LastModified) }])',
    'S3 lists every object with its key and time: the check is for the types.',
  ],
  [
    'boundary moved in core/creation/idempotency.ts canonicalJson: a < b => a <= b',
    'No two fields of an object have the same name.',
  ],
  [
    "operand dropped in core/webhooks/webhook-rules.ts webhookEventOf: (status !== 'succeeded' && status !== 'failed') || finishedAt === undefined => finishedAt === undefined",
    'A request has an end when it is terminal, and not before: both are written at once.',
  ],
  [
    'operand dropped in core/creation/write-creation.ts writeCreation: idempotency && refusedBy(refusals, IDEMPOTENCY_WRITE) => refusedBy(refusals, IDEMPOTENCY_WRITE)',
    'Without a key there is no such write, so nothing refuses it.',
  ],
  [
    "operand dropped in core/creation/new-request.ts pricedVideo: !rate || !('perSecond' in rate) => !('perSecond' in rate)",
    'Both throw without a rate: a bug of the catalog, answered as an internal error.',
  ],
]);
