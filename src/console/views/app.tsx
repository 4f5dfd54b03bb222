import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isReachable, isSignedOut, token } from '../api/ask.ts';
import { lateBecauseOf } from '../api/persist.ts';
import { inOneLine, shortened } from '../model/text.ts';
import { wordsFor } from '../model/words.ts';
import {
  FIRST_KIND,
  failure,
  hasHistory,
  isLoaded,
  kindById,
  kinds,
  load,
  session,
  signOut,
  user,
} from '../state/catalog.ts';
import { useKeys } from '../state/key-handlers.ts';
import { address, asOf, change, go, hrefOf, lastingParams } from '../state/place.ts';
import { nextTheme } from '../state/preferences.ts';
import { Boundary } from './boundary.tsx';
import { ChangesPage } from './changes-page.tsx';
import { Help } from './help.tsx';
import { Icon } from './icons.tsx';
import { ListPage } from './list-page.tsx';
import { Mark } from './mark.tsx';
import { Empty, Loading, Trouble } from './notice.tsx';
import { ObjectPage } from './object-page.tsx';
import { Sidebar } from './sidebar.tsx';
import { SignIn, SignInAgain } from './sign-in.tsx';
import { shortAuthor, Text } from './text.tsx';
import { PastRibbon, TimeBar } from './time-bar.tsx';

export function App(): JSX.Element {
  useEffect(() => void load(), []);
  // A user who is signed out keeps the view and its position.
  const hasMore = kinds.value.length > 0;
  if (hasMore)
    return (
      <>
        <Shell key={session.value} />
        {isSignedOut.value && <SignInAgain />}
      </>
    );
  if (isSignedOut.value) return <SignIn />;
  if (!isLoaded.value) return <Start />;
  return (
    <main class="alone">
      <Trouble error={failure.value} retry={() => void load()} />
    </main>
  );
}

/** The page before the first answer of the server. */
function Start(): JSX.Element {
  return (
    <main class="alone" aria-busy="true">
      <Loading lines={4} label="Loading" />
    </main>
  );
}

function Shell(): JSX.Element {
  const title = titleOf();
  useEffect(() => {
    document.title = title;
  }, [title]);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [isMenuOpen, setMenuOpen] = useState(false);
  useKeys({
    '?': () => setHelpOpen(!isHelpOpen),
    t: nextTheme,
    c: () => go({ page: 'changes', params: lastingParams() }),
    Escape: () => (isMenuOpen ? setMenuOpen(false) : goUp()),
  });
  return (
    <div class={`shell ${asOf.value === undefined ? '' : 'is-past'}`}>
      <TopBar
        openMenu={() => setMenuOpen(!isMenuOpen)}
        openHelp={() => setHelpOpen(true)}
        isMenuOpen={isMenuOpen}
      />
      <Sidebar isOpen={isMenuOpen} close={() => setMenuOpen(false)} />
      {isMenuOpen && (
        <button type="button" class="shade" aria-label="Close the menu" onClick={() => setMenuOpen(false)} />
      )}
      <main>
        <Late />
        <PastRibbon />
        <Boundary key={pageKey()}>
          <Page />
        </Boundary>
      </main>
      <TimeBar />
      {isHelpOpen && <Help close={() => setHelpOpen(false)} />}
    </div>
  );
}

/** The page keeps its data, and updates by itself. */
function Late(): JSX.Element | null {
  const error = lateBecauseOf();
  if (isReachable.value && error === undefined) return null;
  return (
    <div class="lost" role="alert">
      <Icon name="alert" />
      <p>
        {!isReachable.value || error === undefined ? (
          'The server does not answer.'
        ) : (
          <>
            {wordsFor(error).title}: <Text of={shortened(error.message, 300)} />.
          </>
        )}{' '}
        What you see may be old; the page goes on as soon as it is back.
      </p>
    </div>
  );
}

/** The key of a page: another page is drawn anew. */
function pageKey(): string {
  const { value } = address;
  return value.page === 'object'
    ? `${value.resource}/${value.namespace}/${value.name}`
    : value.page === 'list'
      ? value.resource
      : value.page;
}

function titleOf(): string {
  const { value } = address;
  const past = asOf.value === undefined ? '' : ' (past)';
  const what =
    value.page === 'object'
      ? value.name
      : value.page === 'changes'
        ? 'Changes'
        : value.resource || FIRST_KIND;
  return `${inOneLine(what, 80)}${past} · pg-apiserver`;
}

/** Goes from an object to its list, from the panel of a change to the changes. */
function goUp(): void {
  const { value } = address;
  if (value.params.rev !== undefined) change({ rev: '' });
  else if (value.page === 'object') go({ page: 'list', resource: value.resource, params: lastingParams() });
  else if (value.params.q !== undefined) change({ q: '' }, { replace: true });
}

function Page(): JSX.Element {
  const { value } = address;
  if (value.page === 'changes') return <ChangesPage />;
  const id = value.resource === '' ? FIRST_KIND : value.resource;
  const kind = kindById.value.get(id);
  if (kind === undefined)
    return (
      <Empty title="There is no such kind">
        The server has nothing that is called <Text of={id} />.
      </Empty>
    );
  return value.page === 'object' ? (
    <ObjectPage
      key={`${id}/${value.namespace}/${value.name}`}
      kind={kind}
      namespace={value.namespace}
      name={value.name}
    />
  ) : (
    <ListPage key={id} kind={kind} />
  );
}

interface TopBarProps {
  readonly isMenuOpen: boolean;
  openMenu(): void;
  openHelp(): void;
}

function TopBar({ openMenu, openHelp, isMenuOpen }: TopBarProps): JSX.Element {
  const { page } = address.value;
  return (
    <header class="top-bar">
      <button
        type="button"
        class="plain menu"
        aria-label="Kinds"
        aria-expanded={isMenuOpen}
        onClick={openMenu}
      >
        <Icon name="menu" />
      </button>
      <a class="brand" href={hrefOf({ page: 'list', resource: '' })} aria-label="Console">
        <Mark />
        <span>pg-apiserver</span>
      </a>
      <nav class="tabs" aria-label="Pages">
        <a
          href={hrefOf({ page: 'list', resource: '' })}
          aria-current={page === 'changes' ? undefined : 'page'}
        >
          <Icon name="list" /> Objects
        </a>
        {hasHistory.value && (
          <a href={hrefOf({ page: 'changes' })} aria-current={page === 'changes' ? 'page' : undefined}>
            <Icon name="history" /> Changes
          </a>
        )}
      </nav>
      <span class="user" title={user.value}>
        <Text of={shortAuthor(user.value)} />
      </span>
      <button
        type="button"
        class="plain"
        aria-label="Dark or light"
        title="Dark or light (t)"
        onClick={nextTheme}
      >
        <span class="for-light">
          <Icon name="moon" />
        </span>
        <span class="for-dark">
          <Icon name="sun" />
        </span>
      </button>
      <button
        type="button"
        class="plain help-button"
        aria-label="Keyboard"
        title="Keyboard (?)"
        onClick={openHelp}
      >
        <Icon name="help" />
      </button>
      {token.value !== '' && (
        <button type="button" class="plain" aria-label="Sign out" title="Sign out" onClick={signOut}>
          <Icon name="out" />
        </button>
      )}
    </header>
  );
}
