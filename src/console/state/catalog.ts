import { computed, signal } from '@preact/signals';
import { ApiError, askJson, isSignedOut, setToken, token } from '../api/client.ts';
import { HISTORY_GROUP, type Kind, loadKinds } from '../api/kinds.ts';
import { persist } from '../api/persist.ts';
import type { ApiObject } from '../model/json.ts';

/** What is shown where the address names no kind. */
export const FIRST_KIND = 'pods';

/** Who the user is, and what there is to see: asked once, and again with another token. */
export const user = signal('');
export const kinds = signal<readonly Kind[]>([]);
export const namespaces = signal<readonly string[]>([]);
/** When the oldest namespace was made, in ms since 1970. */
export const clusterBegin = signal<number | undefined>(undefined);
export const failure = signal<unknown>(undefined);
/** False until the kinds are known, or it is known that they are not to be had. */
export const isLoaded = signal(false);

export const kindById = computed(() => new Map(kinds.value.map((kind) => [kind.id, kind])));

/** Whether the server tells of changes, beside past states. */
export const hasHistory = computed(() => kinds.value.some(({ group }) => group === HISTORY_GROUP));

/** Each sign-in begins another: nothing that was read for one user is shown to the next. */
export const session = signal(0);

let loading = new AbortController();

export async function load(): Promise<void> {
  loading.abort();
  loading = new AbortController();
  const { signal } = loading;
  failure.value = undefined;
  try {
    const found = await persist(loadKinds, {
      signal,
      keeps: () => kinds.value.length > 0,
      onTrouble: (error) => {
        failure.value = error;
        isLoaded.value = true;
      },
    });
    if (signal.aborted) return;
    kinds.value = found;
    failure.value = undefined;
    isSignedOut.value = false;
    session.value++;
    void loadUser();
    void loadNamespaces();
  } catch (error) {
    if (signal.aborted) return;
    // Anonymous users are refused by 403 where they are let in at all.
    if (error instanceof ApiError && error.code === 403 && token.value === '') isSignedOut.value = true;
    failure.value = error;
  }
  isLoaded.value = true;
}

export async function signIn(typed: string): Promise<void> {
  setToken(typed.trim());
  await load();
}

export function signOut(): void {
  loading.abort();
  setToken('');
  user.value = '';
  kinds.value = [];
  namespaces.value = [];
  isSignedOut.value = true;
}

async function loadUser(): Promise<void> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const answer = await askJson<{ status?: { userInfo?: { username?: string } } }>(
    'apis/authentication.k8s.io/v1/selfsubjectreviews',
    { method: 'POST', body: review },
  ).catch(() => undefined);
  user.value = answer?.status?.userInfo?.username ?? '';
}

const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';

/** Those who may not list namespaces type the name of theirs. */
async function loadNamespaces(): Promise<void> {
  const list = await askJson<{ items: readonly ApiObject[] }>('api/v1/namespaces', {
    accept: METADATA_LIST,
  }).catch(() => undefined);
  const items = list?.items ?? [];
  namespaces.value = items.map(({ metadata }) => metadata.name);
  const made = items
    .map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ''))
    .filter((at) => at > 0);
  if (made.length > 0) clusterBegin.value = Math.min(...made);
}
