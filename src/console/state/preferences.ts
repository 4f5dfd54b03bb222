import { effect, signal } from '@preact/signals';

/** Preferences of the user, in the browser's storage rather than in the address. */
type Theme = 'auto' | 'light' | 'dark';

const THEME_KEY = 'pg-apiserver-theme';
const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];

const kept = localStorage.getItem(THEME_KEY);
const theme = signal<Theme>(THEMES.find((one) => one === kept) ?? 'auto');

effect(() => {
  const { documentElement } = document;
  if (theme.value === 'auto') delete documentElement.dataset.theme;
  else documentElement.dataset.theme = theme.value;
  localStorage.setItem(THEME_KEY, theme.value);
});

export function nextTheme(): void {
  const isDark =
    theme.value === 'dark' || (theme.value === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  theme.value = isDark ? 'light' : 'dark';
}

/** A phone's width. */
export const isNarrow = signal(false);
const narrow = matchMedia('(max-width: 720px)');
isNarrow.value = narrow.matches;
narrow.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches;
});
