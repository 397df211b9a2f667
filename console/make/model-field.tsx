import type { Model } from '../../packages/client/src/types.ts';
import { rateOf } from '../state/account.ts';
import { billingText } from './price-rules.ts';

interface ModelFieldProps {
  models: readonly Model[];
  model: Model;
  onModel: (id: string) => void;
}

/** The choice of a model, with how it is billed. */
export const ModelField = ({ models, model, onModel }: ModelFieldProps) => (
  <div class="field">
    <label for="field-model">Model</label>
    <select id="field-model" value={model.id} onInput={(event) => onModel(event.currentTarget.value)}>
      {(['image', 'video'] as const).map((type) => (
        <optgroup key={type} label={type === 'image' ? 'Images' : 'Videos'}>
          {models
            .filter((one) => one.type === type)
            .map(({ id }) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
        </optgroup>
      ))}
    </select>
    <p class="hint">{billingText(model, rateOf(model))}</p>
  </div>
);
