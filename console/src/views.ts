/** All views, in navigation order. Each is loaded on first use. */
import type { Component } from 'svelte';
import { later } from './lib/loading/later';
import type { IconName } from './ui/Icon.svelte';
import type { ViewProps } from './views/view-props';

interface View {
  id: string;
  title: string;
  icon: IconName;
  /** Whether the view is visible without login. */
  isOpen: boolean;
  /** What the view requires: read access to the timeline, or also to its clock and events. */
  needs: 'nothing' | 'timeline' | 'clock';
  /** Whether the view is in the navigation. Others are linked from related views. */
  isListed: boolean;
  /**
   * Loads the view. Also called while no requests are pending, so that the view opens when the service is unreachable.
   */
  load: () => Promise<{ default: Component<ViewProps> }>;
}

export const views: readonly [View, ...View[]] = [
  {
    id: 'clock',
    title: 'Clock',
    icon: 'clock',
    isOpen: false,
    needs: 'clock',
    isListed: true,
    load: later(() => import('./views/clock/ClockView.svelte')),
  },
  {
    id: 'timeline',
    title: 'Timeline',
    icon: 'timeline',
    isOpen: false,
    needs: 'clock',
    isListed: true,
    load: later(() => import('./views/timeline/TimelineView.svelte')),
  },
  {
    id: 'timers',
    title: 'Timers',
    icon: 'bell',
    isOpen: false,
    needs: 'clock',
    isListed: true,
    load: later(() => import('./views/timers/TimersView.svelte')),
  },
  {
    id: 'compare',
    title: 'Compare',
    icon: 'fork',
    isOpen: false,
    needs: 'timeline',
    isListed: false,
    load: later(() => import('./views/compare/CompareView.svelte')),
  },
  {
    id: 'timelines',
    title: 'Timelines',
    icon: 'timeline',
    isOpen: false,
    needs: 'nothing',
    isListed: false,
    load: later(() => import('./views/timelines/TimelinesView.svelte')),
  },
  {
    id: 'paradoxes',
    title: 'Paradoxes',
    icon: 'paradox',
    isOpen: false,
    needs: 'clock',
    isListed: true,
    load: later(() => import('./views/paradoxes/ParadoxesView.svelte')),
  },
  {
    id: 'integrity',
    title: 'Integrity',
    icon: 'shield',
    isOpen: false,
    needs: 'timeline',
    isListed: true,
    load: later(() => import('./views/integrity/IntegrityView.svelte')),
  },
  {
    id: 'access',
    title: 'Access',
    icon: 'people',
    isOpen: false,
    needs: 'nothing',
    isListed: true,
    load: later(() => import('./views/access/AccessView.svelte')),
  },
  {
    id: 'explorer',
    title: 'Explorer',
    icon: 'explorer',
    isOpen: true,
    needs: 'nothing',
    isListed: true,
    load: later(() => import('./views/explorer/ExplorerView.svelte')),
  },
];
