import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.locks.LockSupport;

/** Reads dates, parks until each, and says what time it is then. */
public class Waiter {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        String line;
        while ((line = lines.readLine()) != null) {
            long until = Long.parseLong(line.trim()) * 1000L;
            System.out.println("waiting");
            LockSupport.parkUntil(until);
            System.out.println(Math.floorDiv(System.currentTimeMillis(), 1000L));
        }
        System.exit(5);
    }
}
