/** The idempotency keys of creations. A creation without an answer keeps its key: it may have been accepted, and is debited once. */
export const createKeys = (newKey: () => string) => {
  let open: { body: string; key: string } | undefined;
  return {
    /** The key to send a body with. */
    keyFor: (body: unknown): string => {
      const text = JSON.stringify(body);
      if (open?.body !== text) open = { body: text, key: newKey() };
      return open.key;
    },
    /** The service has answered, whatever it was: the next creation is another one. */
    answered: (): void => {
      open = undefined;
    },
  };
};
