/** A model as OpenAI's clients read it. The catalog knows no date of a model. */
export const renderModel = (id: string) => ({
  id,
  object: 'model',
  created: 0,
  owned_by: 'generation-service',
});
