/** The project's folder, as src/ and dist/ see it, and so does the bundle, which is in dist/ too. */
export const PROJECT = new URL('..', import.meta.url);
