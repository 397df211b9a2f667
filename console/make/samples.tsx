import { useSignal } from '@preact/signals';
import { CopyButton, ScrollFrame } from '../parts/parts.tsx';
import { type Creation, type Language, SAMPLES } from './code-samples.ts';

/** The form's request as a program, to copy. */
export const Samples = ({ creation }: { creation: Creation }) => {
  const language = useSignal<Language>('curl');
  const code = SAMPLES[language.value](creation);
  return (
    <section class="samples" aria-labelledby="samples-heading">
      <h2 id="samples-heading">The same request as code</h2>
      <fieldset class="choices">
        <legend class="unseen">Language</legend>
        {(Object.keys(SAMPLES) as Language[]).map((name) => (
          <label key={name}>
            <input
              type="radio"
              name="language"
              checked={language.value === name}
              onChange={() => {
                language.value = name;
              }}
            />
            {name}
          </label>
        ))}
        <CopyButton text={code} label={`Copy as ${language.value}`} />
      </fieldset>
      <ScrollFrame name={`The request in ${language.value}`}>
        <pre>
          <code>{code}</code>
        </pre>
      </ScrollFrame>
    </section>
  );
};
