import { THEMES, type Theme, theme } from '../state/theme.ts';

/** The switch between the colors of the system, light ones and dark ones. */
export const ThemeChoice = () => (
  <label class="theme">
    <span class="unseen">Theme</span>
    <select
      value={theme.value}
      onInput={(event) => {
        theme.value = event.currentTarget.value as Theme;
      }}
    >
      {THEMES.map((name) => (
        <option key={name} value={name}>
          {name === 'auto' ? 'auto theme' : name}
        </option>
      ))}
    </select>
  </label>
);
