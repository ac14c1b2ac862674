import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Says what time it is whenever it reads a line. */
public class Teller {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        while (lines.readLine() != null) {
            System.out.println(Math.floorDiv(System.currentTimeMillis(), 1000L));
        }
        System.exit(5);
    }
}
