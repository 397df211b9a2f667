import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { BalancePage } from './balance/balance-page.tsx';
import { EndUsersPage } from './end-users/end-users-page.tsx';
import { MakePage } from './make/make-page.tsx';
import { OperatorPage } from './operator/operator-page.tsx';
import { Heading } from './parts/parts.tsx';
import { RequestPage } from './requests/request-page.tsx';
import { RequestsPage } from './requests/requests-page.tsx';
import { SignIn } from './sign-in.tsx';
import { notice } from './state/notices.ts';
import { follow } from './state/records.ts';
import { hrefOf, route } from './state/route.ts';
import { apiKey, operatorToken, signOut } from './state/session.ts';

const PAGES: Record<string, { label: string; Page: ComponentType }> = {
  make: { label: 'Make', Page: MakePage },
  requests: { label: 'Requests', Page: RequestsPage },
  balance: { label: 'Balance', Page: BalancePage },
  'end-users': { label: 'End-users', Page: EndUsersPage },
  operator: { label: 'Keys and rates', Page: OperatorPage },
};

/** The whole console. */
export const App = () => (
  <>
    <p class="unseen" role="status">
      {notice.value}
    </p>
    {apiKey.value === undefined ? <SignIn /> : <SignedIn />}
  </>
);

const SignedIn = () => {
  useEffect(follow, []);
  const { page, id } = route.value;
  const shown = PAGES[page];
  return (
    <>
      <a class="skip" href={location.hash} onClick={skipToMain}>
        Skip to the page
      </a>
      <header>
        <nav aria-label="Pages">
          <ul>
            {Object.entries(PAGES)
              .filter(([name]) => name !== 'operator' || operatorToken.value !== undefined)
              .map(([name, { label }]) => (
                <li key={name}>
                  <a href={hrefOf(name)} aria-current={name === page ? 'page' : undefined}>
                    {label}
                  </a>
                </li>
              ))}
            <li>
              <a href="/docs">API</a>
            </li>
          </ul>
        </nav>
        <button type="button" class="quiet" onClick={signOut}>
          Forget the key
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        {page === 'requests' && id !== undefined ? (
          <RequestPage key={id} requestId={id} />
        ) : shown ? (
          <shown.Page />
        ) : (
          <Heading>There is no such page</Heading>
        )}
      </main>
    </>
  );
};

const skipToMain = (event: Event) => {
  event.preventDefault();
  document.getElementById('main')?.focus();
};
