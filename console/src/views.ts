/** The views, in the order of the navigation. Each comes in a file of its own when it is first looked at. */
import type { Component } from 'svelte';
import type { LiveClock } from './lib/clock.svelte';
import type { IconName } from './ui/Icon.svelte';

/** What every view gets. */
export interface ViewProps {
  /** The timeline that is looked at. */
  timeline: string;
  /** Its clock; null while nobody is logged in. */
  clock: LiveClock | null;
}

interface View {
  id: string;
  title: string;
  icon: IconName;
  /** Whether it can be looked at without being logged in. */
  isOpen: boolean;
  /** Without what there is nothing to look at: a timeline that the user may read, or its clock and events too. */
  needs: 'nothing' | 'timeline' | 'clock';
  load: () => Promise<{ default: Component<ViewProps> }>;
}

export const views: readonly [View, ...View[]] = [
  {
    id: 'clock',
    title: 'Clock',
    icon: 'clock',
    isOpen: false,
    needs: 'clock',
    load: () => import('./views/clock/ClockView.svelte'),
  },
  {
    id: 'timeline',
    title: 'Timeline',
    icon: 'timeline',
    isOpen: false,
    needs: 'clock',
    load: () => import('./views/timeline/TimelineView.svelte'),
  },
  {
    id: 'paradoxes',
    title: 'Paradoxes',
    icon: 'paradox',
    isOpen: false,
    needs: 'clock',
    load: () => import('./views/paradoxes/ParadoxesView.svelte'),
  },
  {
    id: 'integrity',
    title: 'Integrity',
    icon: 'shield',
    isOpen: false,
    needs: 'timeline',
    load: () => import('./views/integrity/IntegrityView.svelte'),
  },
  {
    id: 'access',
    title: 'Access',
    icon: 'people',
    isOpen: false,
    needs: 'nothing',
    load: () => import('./views/access/AccessView.svelte'),
  },
  {
    id: 'explorer',
    title: 'Explorer',
    icon: 'explorer',
    isOpen: true,
    needs: 'nothing',
    load: () => import('./views/explorer/ExplorerView.svelte'),
  },
];
