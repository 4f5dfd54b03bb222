import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { token } from '../api/ask.ts';
import { wordsFor } from '../model/words.ts';
import { failure, signIn } from '../state/catalog.ts';
import { Mark } from './mark.tsx';
import { Text } from './text.tsx';

/** Asks for a token where the connection has no credentials. */
export function SignIn(): JSX.Element {
  return (
    <main class="sign-in">
      <SignInForm />
    </main>
  );
}

/** Covers the unchanged page: the token has expired or was revoked. */
export function SignInAgain(): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      class="sign-in-again"
      aria-label="Sign in"
      // Nothing behind it is usable.
      onCancel={(event) => event.preventDefault()}
      onClose={() => dialog.current?.showModal()}
    >
      <SignInForm />
    </dialog>
  );
}

function SignInForm(): JSX.Element {
  const [typed, setTyped] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (typed.trim() === '') return;
    setBusy(true);
    await signIn(typed);
    setBusy(false);
  };
  // The refused token is wrong, or has expired.
  const wasTried = token.value !== '';
  return (
    <form class="sign-in-form" onSubmit={(event) => void submit(event)}>
      <Mark />
      <h1>Sign in</h1>
      <p>Paste a token. It stays in this tab, and is forgotten when you close it.</p>
      <input
        type="password"
        aria-label="Token"
        placeholder="Token"
        autocomplete="off"
        value={typed}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      {wasTried && !isBusy && (
        <p class="wrong" role="alert">
          <Text of={refusal(failure.value)} />
        </p>
      )}
      <button type="submit" class="primary" disabled={isBusy || typed.trim() === ''}>
        {isBusy ? 'Signing in…' : 'Sign in'}
      </button>
      <div class="sign-in-help">
        <p>No token at hand?</p>
        <pre>kubectl create token NAME</pre>
        <p>Or run this and open /console/ there: it needs no token.</p>
        <pre>kubectl proxy</pre>
      </div>
    </form>
  );
}

const UNKNOWN = 'The server does not know this token: it is wrong or expired.';

function refusal(error: unknown): string {
  if (error === undefined) return UNKNOWN;
  const { title, detail } = wordsFor(error);
  return title === 'You are not signed in' ? UNKNOWN : `${title}. ${detail}`;
}
