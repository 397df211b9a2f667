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
]);
