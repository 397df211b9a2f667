/** The parts of an update that sets attributes, each under a placeholder of its own name. */
export const setAll = (attributes: Record<string, unknown>, otherValues: Record<string, unknown> = {}) => {
  const names = Object.keys(attributes);
  return {
    UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(names.map((name) => [`:${name}`, attributes[name]])),
      ...otherValues,
    },
  };
};

/** The parts of a read that limit it to these attributes of an item. */
export const projectionOf = (names: readonly string[]) => ({
  ProjectionExpression: names.map((name) => `#${name}`).join(),
  ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
});
