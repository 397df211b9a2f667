import { useSignal } from '@preact/signals';
import { ApiError, GenerationClient } from '../packages/client/src/index.ts';
import { readDemoKey } from './operator/operator.ts';
import { Heading, Problem } from './parts/parts.tsx';
import { messageOf } from './state/records.ts';
import { operatorToken, signIn } from './state/session.ts';

/** Asks for an API key, and proves it by a read before it is kept. */
export const SignIn = () => {
  const problem = useSignal<string | undefined>(undefined);
  const key = useSignal('');
  const use = async (given: string) => {
    problem.value = undefined;
    if (given.trim() === '') {
      problem.value = 'Give an API key.';
      return;
    }
    try {
      await new GenerationClient({ baseUrl: location.origin, apiKey: given.trim() }).listModels();
      signIn(given.trim());
    } catch (error) {
      // A key that lacks a scope is a key.
      if (error instanceof ApiError && error.status === 403) signIn(given.trim());
      else problem.value = messageOf(error);
    }
  };
  const useDemo = async () => {
    try {
      await use(await readDemoKey());
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error);
    }
  };
  return (
    <main id="main" class="narrow">
      <Heading>Console</Heading>
      <p>
        Make images and videos, follow their requests, and look after balance and end-users. The API key stays
        in this tab.
      </p>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          use(key.value);
        }}
      >
        <div class="field">
          <label for="api-key">API key</label>
          <input
            id="api-key"
            type="password"
            autoComplete="off"
            spellcheck={false}
            aria-describedby="api-key-message"
            value={key.value}
            onInput={(event) => {
              key.value = event.currentTarget.value;
            }}
          />
          <div id="api-key-message">
            <Problem text={problem.value} />
          </div>
        </div>
        <button type="submit" class="primary">
          Use this key
        </button>{' '}
        {operatorToken.value !== undefined && (
          <button type="button" onClick={useDemo}>
            Use the key of the local run
          </button>
        )}
      </form>
      <p>
        <a href="/docs">The API, described</a>
      </p>
    </main>
  );
};
