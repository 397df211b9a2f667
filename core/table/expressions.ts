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
