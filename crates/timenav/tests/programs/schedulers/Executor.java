import java.io.FileWriter;
import java.io.IOException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** A `ScheduledExecutorService` with fixed rates and delays. */
class Executor {
    static final long HOUR = 3600, DAY = 24 * HOUR;

    static synchronized void record(String word) {
        try (var file = new FileWriter("jobs", true)) {
            file.write(word + " " + System.currentTimeMillis() / 1000.0 + "\n");
        } catch (IOException error) {
            System.exit(1);
        }
    }

    static long delay(long seconds) {
        return seconds * 1000 - System.currentTimeMillis();
    }

    public static void main(String[] words) {
        long midnight = 1935792000;
        var executor = Executors.newScheduledThreadPool(2);
        every(executor, "a", midnight + 8 * HOUR, 240, 3);
        long first = midnight + HOUR + 1800;
        int count = 5;
        for (; delay(first) < 0; count--) first += 4 * HOUR;
        every(executor, "b", first, 4 * HOUR, count);
        executor.schedule(() -> record("p"), delay(midnight + 8 * HOUR + 1200), TimeUnit.MILLISECONDS);
        executor.schedule(() -> record("c"), delay(midnight + DAY + 12 * HOUR), TimeUnit.MILLISECONDS);
        executor.schedule(() -> record("d"), delay(midnight + DAY + 23 * HOUR + 1800), TimeUnit.MILLISECONDS);
        record("ready");
    }

    static void every(java.util.concurrent.ScheduledExecutorService executor, String letter, long first, long every, int count) {
        int[] left = {count};
        ScheduledFuture<?>[] task = {null};
        task[0] = executor.scheduleAtFixedRate(() -> {
            record(letter);
            if (--left[0] == 0) task[0].cancel(false);
        }, Math.max(0, delay(first)), every * 1000, TimeUnit.MILLISECONDS);
    }
}
