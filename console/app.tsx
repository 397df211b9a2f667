import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { BalancePage } from './balance/balance-page.tsx';
import { EndUsersPage } from './end-users/end-users-page.tsx';
import { MakePage } from './make/make-page.tsx';
import { OperatorPage } from './operator/operator-page.tsx';
import { AccountBar } from './parts/account-bar.tsx';
import { Icon, type IconName } from './parts/icons.tsx';
import { Notices } from './parts/notice.tsx';
import { Heading } from './parts/parts.tsx';
import { ThemeChoice } from './parts/theme-choice.tsx';
import { RequestPage } from './requests/request-page.tsx';
import { RequestsPage } from './requests/requests-page.tsx';
import { SignIn } from './sign-in.tsx';
import { hrefOf, route } from './state/route.ts';
import { apiKey, isForOperators, isOperatorOnly, operatorToken, signOut } from './state/session.ts';

/** Who sees a page: holders of a key, or operators. */
type Audience = 'caller' | 'operator';

interface PageEntry {
  label: string;
  icon: IconName;
  Page: ComponentType;
  audience: Audience;
}

const PAGES: Record<string, PageEntry> = {
  make: { label: 'Make', icon: 'make', Page: MakePage, audience: 'caller' },
  requests: { label: 'Requests', icon: 'requests', Page: RequestsPage, audience: 'caller' },
  balance: { label: 'Balance', icon: 'balance', Page: BalancePage, audience: 'caller' },
  'end-users': { label: 'End-users', icon: 'end-users', Page: EndUsersPage, audience: 'caller' },
  operator: { label: 'Operator', icon: 'operator', Page: OperatorPage, audience: 'operator' },
};

const isSeen = (audience: Audience): boolean =>
  audience === 'operator' ? operatorToken.value !== undefined : apiKey.value !== undefined;

/** The whole console. */
export const App = () => (
  <>
    {apiKey.value !== undefined || (isOperatorOnly.value && operatorToken.value !== undefined) ? (
      <SignedIn />
    ) : (
      <SignIn />
    )}
    <Notices />
  </>
);

const SignedIn = () => {
  const { page: asked, id } = route.value;
  // An operator without a key begins at the operator's page.
  const page = asked === 'make' && apiKey.value === undefined ? 'operator' : asked;
  const shown = PAGES[page];
  useEffect(() => {
    scrollTo({ top: 0 });
  }, [page, id]);
  return (
    <div class="frame">
      <a class="skip" href={location.hash} onClick={skipToMain}>
        Skip to the page
      </a>
      <Header page={page} />
      <main id="main" tabIndex={-1}>
        {page === 'requests' && id !== undefined ? (
          <RequestPage key={id} requestId={id} />
        ) : shown && isSeen(shown.audience) ? (
          <shown.Page />
        ) : (
          <Heading>There is no such page</Heading>
        )}
      </main>
    </div>
  );
};

/** The navigation with the account in use: at the side where there is room, else at the top. */
const Header = ({ page }: { page: string }) => (
  <header>
    <p class="brand">
      <Icon name="image" />
      Generation service
    </p>
    <nav aria-label="Pages">
      <ul>
        {Object.entries(PAGES)
          .filter(([, { audience }]) => isSeen(audience))
          .map(([name, { label, icon }]) => (
            <li key={name}>
              <a href={hrefOf(name)} aria-current={name === page ? 'page' : undefined}>
                <Icon name={icon} />
                {label}
              </a>
            </li>
          ))}
        <li>
          <a href="/docs">
            <Icon name="docs" />
            API docs
          </a>
        </li>
      </ul>
    </nav>
    <div class="account">
      {apiKey.value !== undefined && <AccountBar />}
      <div class="row">
        <ThemeChoice />
        {!isForOperators() && (
          <button type="button" class="quiet" onClick={signOut}>
            Sign out
          </button>
        )}
      </div>
    </div>
  </header>
);

const skipToMain = (event: Event) => {
  event.preventDefault();
  document.getElementById('main')?.focus();
};
