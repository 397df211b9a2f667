import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiError, GenerationClient } from '../packages/client/src/index.ts';
import { OperatorError, readDemoKey } from './operator/operator.ts';
import { Heading, Problem } from './parts/parts.tsx';
import { ThemeChoice } from './parts/theme-choice.tsx';
import { messageOf } from './state/records.ts';
import { continueAsOperator, isForOperators, operatorToken, signIn } from './state/session.ts';

/** Asks for an API key, where there is an API. */
export const SignIn = () => (
  <main id="main" class="narrow">
    <Heading>Console</Heading>
    {isForOperators() ? (
      <p>This console started again: open the address that the terminal shows.</p>
    ) : (
      <KeyForm />
    )}
    <p>
      <a href="/docs">API reference</a>
    </p>
    <ThemeChoice />
  </main>
);

const WRONG_KEY =
  'This API key is not valid. Check that it was copied whole, from gsk_ to its end, and that it was not revoked.';

/** The problem of the form, and the two ways to a key: the user's own, and the key of a local run. */
const useKey = () => {
  const problem = useSignal<string | undefined>(undefined);
  const demoKey = useSignal<string | undefined>(undefined);
  /** Proves a key by a read before signing in. */
  const use = async (given: string) => {
    problem.value = undefined;
    if (given.trim() === '') {
      problem.value = 'API key is required.';
      return;
    }
    try {
      await new GenerationClient({ baseUrl: location.origin, apiKey: given.trim() }).listModels();
      signIn(given.trim());
    } catch (error) {
      // A key that lacks a scope is a key.
      if (error instanceof ApiError && error.status === 403) signIn(given.trim());
      else if (error instanceof ApiError && error.status === 401) problem.value = WRONG_KEY;
      else problem.value = messageOf(error);
    }
  };
  useEffect(() => {
    if (operatorToken.peek() === undefined) return;
    readDemoKey()
      .then((read) => {
        demoKey.value = read;
      })
      .catch((error: unknown) => {
        // Only a local run has such a key, and the operator goes on without it.
        if (!(error instanceof OperatorError)) throw error;
        problem.value = operatorToken.peek() === undefined ? error.message : undefined;
      });
  }, [operatorToken.value]);
  return { problem, demoKey, use };
};

const KeyForm = () => {
  const key = useSignal('');
  const { problem, demoKey, use } = useKey();
  return (
    <>
      <p>
        Make images and videos, follow their requests, and manage balance and end-users. The API key stays in
        this tab, and in those that you open from it.
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
          Sign in
        </button>{' '}
        {demoKey.value !== undefined && (
          <button type="button" onClick={() => use(demoKey.value ?? '')}>
            Use the key of the local run
          </button>
        )}{' '}
        {operatorToken.value !== undefined && (
          <button type="button" onClick={continueAsOperator}>
            Continue as operator
          </button>
        )}
      </form>
    </>
  );
};
