/** Bad usage that only the verb can detect. Exit status 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}
