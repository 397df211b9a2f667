import { GenerationServiceError } from './errors.ts';
import type { Model } from './types.ts';

/** The kinds of the models on offer. A model that no earlier list named makes the client list the models again. */
export class Kinds {
  readonly #seen = new Map<string, Model['type']>();

  /** The kind of a model. Throws `GenerationServiceError` where the service does not offer it. */
  async of(model: string, listModels: () => Promise<readonly Model[]>): Promise<Model['type']> {
    if (!this.#seen.has(model)) for (const { id, type } of await listModels()) this.#seen.set(id, type);
    const kind = this.#seen.get(model);
    if (!kind) throw new GenerationServiceError(`The service does not offer the model ${model}.`);
    return kind;
  }
}
