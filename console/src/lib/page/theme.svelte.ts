/** Light, dark or system theme. Stored in this browser. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'timenav-theme';

class ThemeChoice {
  choice = $state<Theme>('system');

  constructor() {
    const stored = localStorage.getItem(KEY);
    this.set(stored === 'light' || stored === 'dark' ? stored : 'system');
  }

  set(choice: Theme): void {
    this.choice = choice;
    document.documentElement.dataset.theme = choice;
    if (choice === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, choice);
  }
}

export const theme = new ThemeChoice();
